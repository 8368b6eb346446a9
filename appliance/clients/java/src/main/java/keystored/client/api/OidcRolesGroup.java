// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class OidcRolesGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/keystore/authentication/oidc/{}/roles", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/keystore/authentication/oidc/{}/roles/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST =
      new Operation("GET", "/v1/state/keystore/authentication/oidc/{}/roles", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/oidc/{}/roles", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/keystore/authentication/oidc/{}/roles/{}", "");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/keystore/authentication/oidc/{}/roles/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/keystore/authentication/oidc/{}/roles/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/keystore/authentication/oidc/{}/roles/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  OidcRolesGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create an OIDC role.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public OidcRole create(String service, OidcRoleCreation body, OidcRolesCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts(service).body(body)), OidcRole.class);
  }

  /**
   * Create an OIDC role.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param body what is sent
   * @return the answer
   */
  public OidcRole create(String service, OidcRoleCreation body) {
    return create(service, body, OidcRolesCreateOptions.builder().build());
  }

  /**
   * Delete an OIDC role.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @param options the optional parameters
   */
  public void delete(String service, String name, OidcRolesDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(service, name)));
  }

  /**
   * Delete an OIDC role.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   */
  public void delete(String service, String name) {
    delete(service, name, OidcRolesDeleteOptions.builder().build());
  }

  /**
   * List the state of every OIDC role.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param options the optional parameters
   * @return the answer
   */
  public Page<OidcRoleState> list(String service, OidcRolesListOptions options) {
    return sender.page(LIST, options.addTo(new Parts(service)), OidcRoleState.class);
  }

  /**
   * List the state of every OIDC role.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @return the answer
   */
  public Page<OidcRoleState> list(String service) {
    return list(service, OidcRolesListOptions.builder().build());
  }

  /**
   * List the state of every OIDC role. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<OidcRoleState> listEach(String service, OidcRolesListOptions options) {
    return Page.walk(after -> list(service, after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every OIDC role.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param options the optional parameters
   * @return the answer
   */
  public Page<OidcRole> listConfig(String service, OidcRolesListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts(service)), OidcRole.class);
  }

  /**
   * List every OIDC role.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @return the answer
   */
  public Page<OidcRole> listConfig(String service) {
    return listConfig(service, OidcRolesListConfigOptions.builder().build());
  }

  /**
   * List every OIDC role. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/keystore/authentication/oidc/&#123;service}/roles
   *
   * @param service Name of the service.
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<OidcRole> listConfigEach(String service, OidcRolesListConfigOptions options) {
    return Page.walk(after -> listConfig(service, after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into an OIDC role.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String service, String name, OidcRoleMerge body, OidcRolesMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(service, name).body(body)));
  }

  /**
   * Merge into an OIDC role.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @param body what is sent
   */
  public void merge(String service, String name, OidcRoleMerge body) {
    merge(service, name, body, OidcRolesMergeOptions.builder().build());
  }

  /**
   * Create or replace an OIDC role.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public OidcRole replace(String service, String name, OidcRoleReplacement body, OidcRolesReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(service, name).body(body)), OidcRole.class);
  }

  /**
   * Create or replace an OIDC role.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @param body what is sent
   * @return the answer
   */
  public OidcRole replace(String service, String name, OidcRoleReplacement body) {
    return replace(service, name, body, OidcRolesReplaceOptions.builder().build());
  }

  /**
   * Read the state of an OIDC role.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @return the answer
   */
  public OidcRoleState show(String service, String name) {
    return sender.json(SHOW, new Parts(service, name), OidcRoleState.class);
  }

  /**
   * Read an OIDC role.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/keystore/authentication/oidc/&#123;service}/roles/&#123;name}
   *
   * @param service Name of the service.
   * @param name Name of the OIDC role.
   * @return the answer
   */
  public OidcRole showConfig(String service, String name) {
    return sender.json(SHOW_CONFIG, new Parts(service, name), OidcRole.class);
  }
}
