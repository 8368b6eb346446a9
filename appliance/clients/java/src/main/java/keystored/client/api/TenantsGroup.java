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
   * <p>GET /v1/config/tenants/&#123;name}
   *
   * @param name Name of the tenant.
   * @return the answer
   */
  public Tenant showConfig(String name) {
    return sender.json(SHOW_CONFIG, new Parts(name), Tenant.class);
  }
}
