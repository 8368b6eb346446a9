// /v1/state/system/shipping: progress of each receiver of the audit trail and the logs, and a test event; for the system tenant.
import { z } from 'zod';
import { fail } from '../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../core/http/endpoint.ts';
import { answerList, listOf } from '../../core/http/resource/list-answer.ts';
import { listQuery } from '../../core/http/resource/list-query.ts';
import { tags } from '../../core/http/tags.ts';
import { destinationState, type DestinationState, type ReportParts, reportShipping } from './report.ts';
import type { TestResult } from './test-event.ts';

/** Parts of the endpoints. `test` sends a test event, in the shipper. */
export type ShippingParts = ReportParts & { test(destination: string): Promise<TestResult> };

const shared = { tag: tags.system, access: 'token', errors: ['not-found'] } as const;

const testResult = z.object({
  id: z.string().meta({ description: 'Id of the record, to find it at the receiver.', example: '8b0d1f0a-52c5-4e34-9d39-5a7f0f3a9f0e' }),
  accepted: z.boolean().meta({ description: '`true` if the receiver took it.', example: true }),
  answer: z
    .string()
    .meta({ description: 'What the receiver said, or what to mend.', example: 'TLSv1.3 with CN=siem.example; everything was read' }),
  milliseconds: z.int().meta({ description: 'How long it took.', example: 41 }),
});

/** Refused with 404 for every tenant but `system`. The test event goes on while a receiver is behind: it shows why. */
export function shippingEndpoints(shipping: ShippingParts): AnyEndpoint[] {
  const names = { destination: { description: 'Name of the destination.', example: 'siem' } };
  const find = ({ params }: EndpointCall): string => {
    const name = params['destination'] ?? '';
    if (!shipping.destinations.some((one) => one.name === name)) throw fail('not-found');
    return name;
  };
  return [
    defineEndpoint({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/shipping',
      operation: 'read',
      named: 'Shipping',
      nameField: 'name',
      summary: 'State of every receiver of the audit trail and the logs',
      description: 'Receivers are configured in the section `shipping` of the configuration.',
      audit: 'reads-go-on',
      output: z.array(destinationState),
      reservedFor: 'system-tenant',
      query: listQuery,
      async run(call) {
        const states = await reportShipping(shipping);
        const byName = states.map((state) => [state.name, state] as const).toSorted(([a], [b]) => (a < b ? -1 : 1));
        return answerList(
          call,
          { path: '/v1/state/system/shipping', nameField: 'name' },
          destinationState,
          listOf(byName),
          (_name, state) => state,
        );
      },
    }),
    defineEndpoint<undefined, DestinationState, string>({
      ...shared,
      method: 'GET',
      path: '/v1/state/system/shipping/{destination}',
      operation: 'read',
      named: 'Shipping',
      nameField: 'name',
      summary: 'State of one receiver',
      description: 'As in the list of all receivers.',
      audit: 'reads-go-on',
      documented: { names },
      output: destinationState,
      reservedFor: 'system-tenant',
      find,
      async run(_call, _input, name) {
        const found = (await reportShipping(shipping)).find((one) => one.name === name);
        if (found === undefined) throw fail('not-found');
        return found;
      },
    }),
    defineEndpoint<Record<string, never>, TestResult, string>({
      ...shared,
      method: 'POST',
      path: '/v1/state/system/shipping/{destination}/test',
      act: 'none',
      operation: 'execute',
      named: 'ShippingTest',
      summary: 'Send a test event to a receiver',
      description:
        'The answer 200 says in `accepted` if the receiver took it, and what it said. The record is marked as a test and is in no audit trail.',
      audit: 'required',
      whileBehind: true,
      documented: { names },
      input: z.object({}),
      output: testResult,
      commandLine: { verdict: 'accepted' },
      errors: [...shared.errors, 'shipper-unavailable'],
      reservedFor: 'system-root',
      find,
      run: (_call, _input, name) => shipping.test(name),
    }),
  ];
}
