// The operations of a sealed appliance, for a keystorectl without a stored description: a sealed appliance serves no description.
import { healthEndpoint } from '../../core/platform/system/health-endpoint.ts';
import { buildOpenApi, type OpenApiDocument } from '../../core/http/description/openapi.ts';
import { unsealEndpoint } from './endpoints.ts';

/** Health and unseal, as an unsealed appliance describes them. */
export function describeSealed(): OpenApiDocument {
  return buildOpenApi([healthEndpoint(() => ({ healthy: false, report: {} })), unsealEndpoint], []);
}
