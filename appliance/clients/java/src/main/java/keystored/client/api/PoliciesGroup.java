// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class PoliciesGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/policy/policies", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/policy/policies/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST =
      new Operation("GET", "/v1/state/policy/policies", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/policy/policies", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/policy/policies/{}", "application/json");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/policy/policies/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/policy/policies/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/policy/policies/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  PoliciesGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create a policy.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/policy/policies
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public PolicyWithWarnings create(PolicyCreation body, PoliciesCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), PolicyWithWarnings.class);
  }

  /**
   * Create a policy.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/policy/policies
   *
   * @param body what is sent
   * @return the answer
   */
  public PolicyWithWarnings create(PolicyCreation body) {
    return create(body, PoliciesCreateOptions.builder().build());
  }

  /**
   * Delete a policy.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @param options the optional parameters
   */
  public void delete(String name, PoliciesDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete a policy.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   */
  public void delete(String name) {
    delete(name, PoliciesDeleteOptions.builder().build());
  }

  /**
   * List the state of every policy.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/policy/policies
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<PolicyState> list(PoliciesListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), PolicyState.class);
  }

  /**
   * List the state of every policy.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/policy/policies
   *
   * @return the answer
   */
  public Page<PolicyState> list() {
    return list(PoliciesListOptions.builder().build());
  }

  /**
   * List the state of every policy. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/policy/policies
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<PolicyState> listEach(PoliciesListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every policy.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/policy/policies
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Policy> listConfig(PoliciesListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), Policy.class);
  }

  /**
   * List every policy.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/policy/policies
   *
   * @return the answer
   */
  public Page<Policy> listConfig() {
    return listConfig(PoliciesListConfigOptions.builder().build());
  }

  /**
   * List every policy. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/policy/policies
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Policy> listConfigEach(PoliciesListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into a policy.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public PolicyWithWarnings merge(String name, PolicyMerge body, PoliciesMergeOptions options) {
    return sender.json(MERGE, options.addTo(new Parts(name).body(body)), PolicyWithWarnings.class);
  }

  /**
   * Merge into a policy.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @param body what is sent
   * @return the answer
   */
  public PolicyWithWarnings merge(String name, PolicyMerge body) {
    return merge(name, body, PoliciesMergeOptions.builder().build());
  }

  /**
   * Create or replace a policy.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public PolicyWithWarnings replace(String name, PolicyReplacement body, PoliciesReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), PolicyWithWarnings.class);
  }

  /**
   * Create or replace a policy.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @param body what is sent
   * @return the answer
   */
  public PolicyWithWarnings replace(String name, PolicyReplacement body) {
    return replace(name, body, PoliciesReplaceOptions.builder().build());
  }

  /**
   * Read the state of a policy.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @return the answer
   */
  public PolicyState show(String name) {
    return sender.json(SHOW, new Parts(name), PolicyState.class);
  }

  /**
   * Read a policy.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/policy/policies/&#123;name}
   *
   * @param name Name of the policy.
   * @return the answer
   */
  public Policy showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), Policy.class);
  }
}
