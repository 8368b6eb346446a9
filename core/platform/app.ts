// App of a serving process: endpoints of the platform and the plugins, served as one API.
import { Quotas } from '../access/quotas.ts';
import { openTenants } from '../access/tenants.ts';
import type { ErrorTable } from '../base/errors.ts';
import type { Log } from '../base/context.ts';
import type { Audit } from '../audit/record.ts';
import { createHttpApp, type HttpApp } from '../http/app.ts';
import type { Answered, Replica } from '../http/context/request-context.ts';
import type { Alias } from '../http/alias.ts';
import type { Scheme } from '../http/authentication.ts';
import type { AnyEndpoint } from '../http/endpoint.ts';
import type { BodyRoom } from '../http/request/body-room.ts';
import type { AnyResource } from '../http/resource/resource.ts';
import { providePlatform, type PlatformContext } from './index.ts';
import { withTenants } from './tenants/audit-tenants.ts';

export type AppOptions = Omit<PlatformContext, 'app'> & {
  /** endpoints of the plugins */
  readonly endpoints: readonly AnyEndpoint[];
  readonly resources: readonly AnyResource[];
  readonly errors: readonly ErrorTable[];
  readonly schemes?: readonly Scheme[];
  readonly aliases?: readonly Alias[];
  readonly audit: Audit;
  readonly log: Log;
  /** tells whether the appliance waits for the PIN; default: never */
  readonly sealed?: () => boolean;
  /** absent: the store is its own */
  readonly replica?: Replica | undefined;
  /** as in RequestServer; absent: by quotas of this process alone */
  readonly admit?: ((tenantId: string) => void) | undefined;
  /** Called with every answer, for metrics. */
  readonly onAnswered?: (answered: Answered) => void;
  /** room in which large bodies wait for memory; absent: one of the usual size */
  readonly bodyRoom?: BodyRoom;
};

export type App = Pick<HttpApp, 'handler' | 'invoke' | 'takesList' | 'routes' | 'openapi'> & {
  /** Ends endless answers, such as followed topics, for an orderly stop. */
  endStreams(): void;
};

/** Throws when two endpoints share a method and path or two error tables a code. */
export function createApp(options: AppOptions): App {
  const platform = providePlatform({ ...options, app: () => app });
  const quotas = new Quotas(options);
  const app: HttpApp = createHttpApp({
    admit: (tenantId) => quotas.admit(tenantId),
    ...options,
    endpoints: [...platform.endpoints, ...options.endpoints],
    resources: [...platform.resources, ...options.resources],
    access: platform.access,
    audit: withTenants(options.audit, openTenants(options.store)),
    sealed: options.sealed ?? (() => false),
  });
  const { handler, invoke, takesList, routes, openapi } = app;
  return { handler, invoke, takesList, routes, openapi, endStreams: () => void platform.stop() };
}
