// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class OidcGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/authentication/oidc", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/authentication/oidc/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation EXPLAIN =
      new Operation("POST", "/v1/state/keystore/authentication/oidc/{}/explain", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/authentication/oidc", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/oidc", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LOGIN =
      new Operation("POST", "/v1/oidc-login", "application/json", Operation.Trait.PUBLIC);
  private static final Operation LOGIN_POLL =
      new Operation("POST", "/v1/oidc-login/poll", "application/json", Operation.Trait.PUBLIC);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/authentication/oidc/{}", "");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/authentication/oidc/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/authentication/oidc/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/oidc/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation TEST =
      new Operation("POST", "/v1/state/keystore/authentication/oidc/{}/test", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  OidcGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create an OIDC service.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/oidc
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public OidcService create(OidcServiceCreation body, OidcCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), OidcService.class);
  }

  /**
   * Create an OIDC service.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/oidc
   *
   * @param body what is sent
   * @return the answer
   */
  public OidcService create(OidcServiceCreation body) {
    return create(body, OidcCreateOptions.builder().build());
  }

  /**
   * Delete an OIDC service.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @param options the optional parameters
   */
  public void delete(String name, OidcDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete an OIDC service.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   */
  public void delete(String name) {
    delete(name, OidcDeleteOptions.builder().build());
  }

  /**
   * Say which roles claims match, and why not.
   *
   * <p>Takes `claims`, or as `login` the reference of a sign-in that failed within the last day. Refused where
   * policies hide what it tells of the service or of a role.
   *
   * <p>POST /v1/state/keystore/authentication/oidc/&#123;name}/explain
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   * @return the answer
   */
  public OidcExplainAnswer explain(String name, OidcExplainRequest body) {
    return sender.json(EXPLAIN, new Parts(name).body(body), OidcExplainAnswer.class);
  }

  /**
   * List the state of every OIDC service.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<OidcServiceState> list(OidcListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), OidcServiceState.class);
  }

  /**
   * List the state of every OIDC service.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc
   *
   * @return the answer
   */
  public Page<OidcServiceState> list() {
    return list(OidcListOptions.builder().build());
  }

  /**
   * List the state of every OIDC service. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<OidcServiceState> listEach(OidcListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every OIDC service.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<OidcService> listConfig(OidcListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), OidcService.class);
  }

  /**
   * List every OIDC service.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc
   *
   * @return the answer
   */
  public Page<OidcService> listConfig() {
    return listConfig(OidcListConfigOptions.builder().build());
  }

  /**
   * List every OIDC service. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<OidcService> listConfigEach(OidcListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Ask for a sign-in that a person finishes in a browser.
   *
   * <p>For programs without a browser: a person opens `login-url`, compares `user-code` and signs in; the
   * program asks /v1/oidc-login/poll with `poll-token` meanwhile.
   *
   * <p>POST /v1/oidc-login
   *
   * @param body what is sent
   * @return the answer
   */
  public OidcLoginAnswer login(OidcLoginRequest body) {
    return sender.json(LOGIN, new Parts().body(body), OidcLoginAnswer.class);
  }

  /**
   * Fetch the token of a sign-in, once it is approved.
   *
   * <p>Until then 400 with `authorization-pending`; the member `error` carries the same in the spelling of RFC
   * 8628.
   *
   * <p>POST /v1/oidc-login/poll
   *
   * @param body what is sent
   * @return the answer
   */
  public OidcLoginPollAnswer loginPoll(OidcLoginPollRequest body) {
    return sender.json(LOGIN_POLL, new Parts().body(body), OidcLoginPollAnswer.class);
  }

  /**
   * Merge into an OIDC service.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, OidcServiceMerge body, OidcMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into an OIDC service.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   */
  public void merge(String name, OidcServiceMerge body) {
    merge(name, body, OidcMergeOptions.builder().build());
  }

  /**
   * Create or replace an OIDC service.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public OidcService replace(String name, OidcServiceReplacement body, OidcReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), OidcService.class);
  }

  /**
   * Create or replace an OIDC service.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   * @return the answer
   */
  public OidcService replace(String name, OidcServiceReplacement body) {
    return replace(name, body, OidcReplaceOptions.builder().build());
  }

  /**
   * Read the state of an OIDC service.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @return the answer
   */
  public OidcServiceState show(String name) {
    return sender.json(SHOW, new Parts(name), OidcServiceState.class);
  }

  /**
   * Read an OIDC service.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/keystore/authentication/oidc/&#123;name}
   *
   * @param name Name of the OIDC service.
   * @return the answer
   */
  public OidcService showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), OidcService.class);
  }

  /**
   * Check a provider without a login.
   *
   * <p>Always 200: faults are in `findings`, each with its fix. Refused where policies hide what it tells of the
   * service.
   *
   * <p>POST /v1/state/keystore/authentication/oidc/&#123;name}/test
   *
   * @param name Name of the OIDC service.
   * @param body what is sent
   * @return the answer
   */
  public OidcTestAnswer test(String name, OidcTestRequest body) {
    return sender.json(TEST, new Parts(name).body(body), OidcTestAnswer.class);
  }
}
