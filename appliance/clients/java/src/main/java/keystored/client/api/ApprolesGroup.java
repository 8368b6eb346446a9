// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class ApprolesGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/authentication/approles", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/authentication/approles/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation DISABLE_SECRET_ID =
      new Operation("POST", "/v1/state/keystore/authentication/approles/{}/disable-secret-id", "");
  private static final Operation GENERATE_SECRET_ID =
      new Operation("POST", "/v1/state/keystore/authentication/approles/{}/generate-secret-id", "application/json");
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/authentication/approles", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/approles", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/authentication/approles/{}", "");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/authentication/approles/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/authentication/approles/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/approles/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  ApprolesGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create an approle.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/approles
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Approle create(ApproleCreation body, ApprolesCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), Approle.class);
  }

  /**
   * Create an approle.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/approles
   *
   * @param body what is sent
   * @return the answer
   */
  public Approle create(ApproleCreation body) {
    return create(body, ApprolesCreateOptions.builder().build());
  }

  /**
   * Delete an approle.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @param options the optional parameters
   */
  public void delete(String name, ApprolesDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete an approle.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   */
  public void delete(String name) {
    delete(name, ApprolesDeleteOptions.builder().build());
  }

  /**
   * End a secret-id at once.
   *
   * <p>Named by `secret-id` or by `accessor`. Tokens that it was exchanged for go on working until they end.
   *
   * <p>POST /v1/state/keystore/authentication/approles/&#123;name}/disable-secret-id
   *
   * @param name Name of the approle.
   * @param body what is sent
   */
  public void disableSecretId(String name, DisableSecretIdRequest body) {
    sender.nothing(DISABLE_SECRET_ID, new Parts(name).body(body));
  }

  /**
   * Make a secret-id.
   *
   * <p>The secret-id is shown this once and kept as a hash. Together with the role-id it logs in
   * (`/v1/approle-login`).
   *
   * <p>POST /v1/state/keystore/authentication/approles/&#123;name}/generate-secret-id
   *
   * @param name Name of the approle.
   * @param body what is sent
   * @return the answer
   */
  public GenerateSecretIdAnswer generateSecretId(String name, GenerateSecretIdRequest body) {
    return sender.json(GENERATE_SECRET_ID, new Parts(name).body(body), GenerateSecretIdAnswer.class);
  }

  /**
   * List the state of every approle.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/approles
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<ApproleState> list(ApprolesListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), ApproleState.class);
  }

  /**
   * List the state of every approle.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/approles
   *
   * @return the answer
   */
  public Page<ApproleState> list() {
    return list(ApprolesListOptions.builder().build());
  }

  /**
   * List the state of every approle. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/approles
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<ApproleState> listEach(ApprolesListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every approle.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/approles
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Approle> listConfig(ApprolesListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), Approle.class);
  }

  /**
   * List every approle.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/approles
   *
   * @return the answer
   */
  public Page<Approle> listConfig() {
    return listConfig(ApprolesListConfigOptions.builder().build());
  }

  /**
   * List every approle. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/approles
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Approle> listConfigEach(ApprolesListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into an approle.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, ApproleMerge body, ApprolesMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into an approle.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @param body what is sent
   */
  public void merge(String name, ApproleMerge body) {
    merge(name, body, ApprolesMergeOptions.builder().build());
  }

  /**
   * Create or replace an approle.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Approle replace(String name, ApproleReplacement body, ApprolesReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), Approle.class);
  }

  /**
   * Create or replace an approle.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @param body what is sent
   * @return the answer
   */
  public Approle replace(String name, ApproleReplacement body) {
    return replace(name, body, ApprolesReplaceOptions.builder().build());
  }

  /**
   * Read the state of an approle.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @return the answer
   */
  public ApproleState show(String name) {
    return sender.json(SHOW, new Parts(name), ApproleState.class);
  }

  /**
   * Read an approle.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/keystore/authentication/approles/&#123;name}
   *
   * @param name Name of the approle.
   * @return the answer
   */
  public Approle showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), Approle.class);
  }
}
