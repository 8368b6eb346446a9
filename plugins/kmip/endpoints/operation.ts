// The parts that operations on objects share: their place below a space, and who may call them.
import type { z } from 'zod';
import { fail as coreFail } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, type Endpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import type { KmipCallers } from '../clients/scheme.ts';
import type { Kmip } from '../context.ts';
import { fail } from '../errors.ts';
import type { Place } from '../objects/make.ts';
import { requireObject } from '../objects/change.ts';
import type { ObjectRecord } from '../records/object-record.ts';
import { kmipTag } from '../tags.ts';

export type Parts = { readonly kmip: Kmip; readonly callers: KmipCallers };

export const spaceState = '/v1/state/keystore/kmip-spaces/{space}';
export const objectState = `${spaceState}/objects/{id}`;

export const idName = { description: 'Unique Identifier of the object.', example: '01931b7c-3f00-7a11-8c22-9f3a5d6e7f80' } as const;
export const names = { space: { description: 'Name of the KMIP space.', example: 'storage' }, id: idName } as const;

/** The space of a request. A KMIP client finds its own alone. */
export function findPlace({ kmip, callers }: Parts, { caller, params }: Pick<EndpointCall, 'caller' | 'params'>): Place {
  const spaceName = params['space'] ?? '';
  const client = callers.clientOf(caller);
  const space = kmip.tables.spaces.get([caller.tenantId, spaceName]);
  if (space === undefined || (client !== undefined && client.space !== spaceName))
    throw coreFail('not-found', { detail: 'There is no such KMIP space.' });
  return { tenantId: caller.tenantId, spaceName, space, ...(client === undefined ? {} : { client: client.name }) };
}

/** An object of a request. */
export type Target = { readonly place: Place; readonly id: string; readonly record: ObjectRecord };

export function findTarget(parts: Parts, call: Pick<EndpointCall, 'caller' | 'params'>): Target {
  const place = findPlace(parts, call);
  const id = call.params['id'] ?? '';
  return { place, id, record: requireObject(parts.kmip, place, id) };
}

type Spec<Input, Output, Found> = Pick<
  Endpoint<Input, Output, Found>,
  | 'summary'
  | 'description'
  | 'input'
  | 'output'
  | 'secretInput'
  | 'secretOutput'
  | 'errors'
  | 'auditFields'
  | 'act'
  | 'whileIsolated'
  | 'documented'
> & {
  readonly audit?: 'required' | 'reads-go-on';
  run(call: EndpointCall, input: Input, found: Found): Promise<Output> | Output;
};

/** An operation of KMIP in a space, which callers of /v1 do not have. */
export function spaceOperation<Input, Output>(parts: Parts, name: string, spec: Spec<Input, Output, Place>): AnyEndpoint {
  return defineEndpoint<Input, Output, Place>({
    ...ofClients(name),
    path: `${spaceState}/${name}`,
    ...spec,
    errors: [...common, ...(spec.errors ?? [])],
    find: (call) => findPlace(parts, call),
    run: (call, input, found) => runOf(parts, call, () => spec.run(call, input, found)),
  });
}

/** An operation of KMIP on an object, which callers of /v1 do not have. */
export function objectOperation<Input, Output>(parts: Parts, name: string, spec: Spec<Input, Output, Target>): AnyEndpoint {
  return defineEndpoint<Input, Output, Target>({
    ...ofClients(name),
    path: `${objectState}/${name}`,
    ...spec,
    errors: [...common, ...(spec.errors ?? [])],
    find: (call) => findTarget(parts, call),
    run: (call, input, found) => runOf(parts, call, () => spec.run(call, input, found)),
  });
}

const common = ['not-found', 'kmip-only', 'kmip-destroyed', 'kmip-state'] as const;

/** The people who approve changes of trust have approved these with the client entry. */
const ofClients = (name: string) =>
  ({
    method: 'POST',
    tag: kmipTag,
    access: 'token',
    operation: 'execute',
    act: 'none',
    audit: 'required',
    undescribed: true,
    named: name,
  }) as const;

function runOf<Output>({ callers }: Parts, { caller }: EndpointCall, run: () => Output): Output {
  if (callers.clientOf(caller) === undefined) throw fail('kmip-only');
  return run();
}

/** Schema helper: the type of an input. */
export type InputOf<Schema extends z.ZodType> = z.output<Schema>;
