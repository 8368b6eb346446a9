// POST /v1/state/system/accept-clock: a person says that the clock of the machine is right; for root of the system tenant.
import { type AnyEndpoint, defineEndpoint } from '../../core/http/endpoint.ts';
import { tags } from '../../core/http/tags.ts';
import type { ClockWatch } from './clock-watch.ts';

export function clockEndpoint(clockWatch: ClockWatch): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: '/v1/state/system/accept-clock',
    act: 'change-trust',
    access: 'token',
    operation: 'execute',
    tag: tags.system,
    summary: 'Accept the clock',
    description: 'For a clock that was set back on purpose, or was wrongly in the future before: held work goes on.',
    audit: 'required',
    errors: ['not-found'],
    reservedFor: 'system-root',
    async run() {
      await clockWatch.accept();
      return undefined;
    },
  });
}
