// A group of operations. Made by npm run clients; do not edit.
package keystored.client.api;

import keystored.client.Page;
import keystored.client.internal.Operation;
import keystored.client.internal.Parts;
import keystored.client.internal.Sender;

/** The operations of the group. */
public final class TenantsGroup {
  private static final Operation CREATE =
      new Operation("POST", "/v1/config/tenants", "application/json");
  private static final Operation DELETE =
      new Operation("DELETE", "/v1/config/tenants/{}", "", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST =
      new Operation("GET", "/v1/state/tenants", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation LIST_CONFIG =
      new Operation("GET", "/v1/config/tenants", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation MERGE =
      new Operation("PATCH", "/v1/config/tenants/{}", "");
  private static final Operation REPLACE =
      new Operation("PUT", "/v1/config/tenants/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW =
      new Operation("GET", "/v1/state/tenants/{}", "application/json", Operation.Trait.IDEMPOTENT);
  private static final Operation SHOW_CONFIG =
      new Operation("GET", "/v1/config/tenants/{}", "application/json", Operation.Trait.IDEMPOTENT);

  private final Sender sender;

  TenantsGroup(Sender sender) {
    this.sender = sender;
  }

  /**
   * Create a tenant.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/tenants
   *
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Tenant create(TenantCreation body, TenantsCreateOptions options) {
    return sender.json(CREATE, options.addTo(new Parts().body(body)), Tenant.class);
  }

  /**
   * Create a tenant.
   *
   * <p>Under the name in the body, which must be free. What is left out gets its default. With `validate=true`
   * everything is checked and nothing stored.
   *
   * <p>POST /v1/config/tenants
   *
   * @param body what is sent
   * @return the answer
   */
  public Tenant create(TenantCreation body) {
    return create(body, TenantsCreateOptions.builder().build());
  }

  /**
   * Delete a tenant.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @param options the optional parameters
   */
  public void delete(String name, TenantsDeleteOptions options) {
    sender.nothing(DELETE, options.addTo(new Parts(name)));
  }

  /**
   * Delete a tenant.
   *
   * <p>For good, with what belongs to it; of a record that somebody changed past keystored, which root alone
   * deletes, without. With `validate=true` everything is checked and nothing stored.
   *
   * <p>DELETE /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   */
  public void delete(String name) {
    delete(name, TenantsDeleteOptions.builder().build());
  }

  /**
   * List the state of every tenant.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/tenants
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<TenantState> list(TenantsListOptions options) {
    return sender.page(LIST, options.addTo(new Parts()), TenantState.class);
  }

  /**
   * List the state of every tenant.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/tenants
   *
   * @return the answer
   */
  public Page<TenantState> list() {
    return list(TenantsListOptions.builder().build());
  }

  /**
   * List the state of every tenant. It follows the pages and reads them one by one.
   *
   * <p>What was configured and what came of it, in the order of names. `selector` picks entries by their labels,
   * `fields=name` answers the names alone; `limit` and `after` page, and Total-Count says how many there are.
   * What policies hide is absent. Of an entry whose record somebody changed past keystored, the list has `name`
   * and `unreadable`, the reason.
   *
   * <p>GET /v1/state/tenants
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<TenantState> listEach(TenantsListOptions options) {
    return Page.walk(after -> list(after == null ? options : options.startingAfter(after)));
  }

  /**
   * List every tenant.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/tenants
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Page<Tenant> listConfig(TenantsListConfigOptions options) {
    return sender.page(LIST_CONFIG, options.addTo(new Parts()), Tenant.class);
  }

  /**
   * List every tenant.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/tenants
   *
   * @return the answer
   */
  public Page<Tenant> listConfig() {
    return listConfig(TenantsListConfigOptions.builder().build());
  }

  /**
   * List every tenant. It follows the pages and reads them one by one.
   *
   * <p>What was configured, in the order of names. `selector` picks entries by their labels, `fields=name`
   * answers the names alone; `limit` and `after` page, and Total-Count says how many there are. What policies
   * hide is absent. Of an entry whose record somebody changed past keystored, the list has `name` and
   * `unreadable`, the reason.
   *
   * <p>GET /v1/config/tenants
   *
   * @param options the optional parameters
   * @return the answer
   */
  public Iterable<Tenant> listConfigEach(TenantsListConfigOptions options) {
    return Page.walk(after -> listConfig(after == null ? options : options.startingAfter(after)));
  }

  /**
   * Merge into a tenant.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @param body what is sent
   * @param options the optional parameters
   */
  public void merge(String name, TenantMerge body, TenantsMergeOptions options) {
    sender.nothing(MERGE, options.addTo(new Parts(name).body(body)));
  }

  /**
   * Merge into a tenant.
   *
   * <p>What is left out stays as it is. Containers are merged, lists united (those whose order matters are
   * replaced), other values replaced; null removes (RFC 7396). With `validate=true` everything is checked and
   * nothing stored.
   *
   * <p>PATCH /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @param body what is sent
   */
  public void merge(String name, TenantMerge body) {
    merge(name, body, TenantsMergeOptions.builder().build());
  }

  /**
   * Create or replace a tenant.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @param body what is sent
   * @param options the optional parameters
   * @return the answer
   */
  public Tenant replace(String name, TenantReplacement body, TenantsReplaceOptions options) {
    return sender.json(REPLACE, options.addTo(new Parts(name).body(body)), Tenant.class);
  }

  /**
   * Create or replace a tenant.
   *
   * <p>The whole document: what is left out returns to its default, but for fields that are set at creation only
   * or cannot be set back. `If-None-Match: *` creates only, `If-Match` replaces only what still has the tag.
   * With `validate=true` everything is checked and nothing stored.
   *
   * <p>PUT /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @param body what is sent
   * @return the answer
   */
  public Tenant replace(String name, TenantReplacement body) {
    return replace(name, body, TenantsReplaceOptions.builder().build());
  }

  /**
   * Read the state of a tenant.
   *
   * <p>What was configured and what came of it. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/state/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @return the answer
   */
  public TenantState show(String name) {
    return sender.json(SHOW, new Parts(name), TenantState.class);
  }

  /**
   * Read a tenant.
   *
   * <p>What was configured, without secrets. With `fields` a part of it; what policies hide is absent.
   *
   * <p>GET /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @return the answer
   */
  public Tenant showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), Tenant.class);
  }
}
