// The platform's own part of the API, in the form of a plugin's: tenants, policies, tokens, approles, topics and health.
// It differs from a plugin only in its context: the store without prefix and the app that it is a part of.
import { createAccessControl, type AccessControl } from '../access/access-control.ts';
import { openPolicies } from '../access/policy/policies.ts';
import { openTenants } from '../access/tenants.ts';
import type { HttpApp } from '../http/app.ts';
import type { PluginContext, PluginInstance } from '../plugin/plugin.ts';
import type { ApproverSource } from '../approvals/approver-source.ts';
import { approvalEndpoints } from './approvals/approval-endpoints.ts';
import { ruleResource } from './approvals/rule-resource.ts';
import { approleResource } from './approles/approle-resource.ts';
import { approleLoginEndpoint } from './approles/login-endpoint.ts';
import { secretIdEndpoints } from './approles/secret-id-endpoints.ts';
import { handOverEndpoints } from './hand-overs/endpoints.ts';
import { openAsEndpoints } from './open-as/endpoints.ts';
import { policyCheckEndpoints } from './policies/policy-check-endpoint.ts';
import { policyResource } from './policies/policy-resource.ts';
import { reachOf, type Reach } from './policies/reach.ts';
import { healthEndpoint, type Health } from './system/health-endpoint.ts';
import { topicEndpoints, type TopicDirectories } from './system/topic-endpoints.ts';
import { tenantResource } from './tenants/tenant-resource.ts';
import { tokenCreateEndpoint } from './tokens/create-endpoint.ts';
import { tokenEndpoints } from './tokens/token-endpoints.ts';

export type PlatformContext = Pick<PluginContext<undefined>, 'store' | 'hsm' | 'clock'> & {
  readonly health: () => Health | Promise<Health>;
  /** directories of audit trail and logs, to be read as topics; absent: they cannot be read */
  readonly topics?: TopicDirectories | undefined;
  /** roles of logins of plugins, which rules of approvals may name; absent: none */
  readonly approverSources?: readonly ApproverSource[] | undefined;
  /** the app with all endpoints; called by requests, not while it is being made */
  readonly app: () => HttpApp;
};

/** Parts of the platform; `stop` ends followed topics. */
export type Platform = Required<Pick<PluginInstance, 'endpoints' | 'resources' | 'stop'>> & { readonly access: AccessControl };

export function providePlatform(context: PlatformContext): Platform {
  const { store, app } = context;
  const tenants = openTenants(store);
  const policies = openPolicies(store);
  const access = createAccessControl(store, tenants, policies);
  const topics = context.topics === undefined ? undefined : topicEndpoints({ ...context, access, directories: context.topics });
  let known: Reach | undefined;
  const reach = (): Reach => (known ??= reachOf(app().routes));
  return {
    access,
    endpoints: [
      healthEndpoint(context.health),
      ...tokenEndpoints({ ...context, tenants, access }),
      tokenCreateEndpoint({ ...context, policies }),
      ...secretIdEndpoints(context),
      approleLoginEndpoint({ ...context, tenants }),
      ...handOverEndpoints({ ...context, tenants }),
      ...openAsEndpoints({ ...context, tenants }),
      ...approvalEndpoints(store),
      ...policyCheckEndpoints({ store, access, policies, routes: () => app().table, reach }),
      ...(topics?.endpoints ?? []),
    ],
    resources: [
      tenantResource({ ...context, tenants, policies, resources: () => app().resources }),
      policyResource({ store, policies, tenants, reach, resources: () => app().resources }),
      approleResource({ ...context, policies }),
      ruleResource({ store, sources: () => context.approverSources ?? [], endpoints: () => app().routes }),
    ],
    stop: () => topics?.endStreams(),
  };
}
