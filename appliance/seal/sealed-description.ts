// What a sealed appliance answers, for a command line that has never seen it open: sealed, it describes nothing, itself included.
import { healthEndpoint } from '../../core/platform/system/health-endpoint.ts';
import { buildOpenApi, type OpenApiDocument } from '../../core/http/description/openapi.ts';
import { unsealEndpoint } from '../operations/system-endpoints.ts';

/** As the appliance describes these two when it is open. */
export function describeSealed(): OpenApiDocument {
  return buildOpenApi([healthEndpoint(() => ({ healthy: false, report: {} })), unsealEndpoint], []);
}
