// Actions on tokens: info, refresh, disable, the list by accessor, and the one root token of a tenant (api 47 to 50).
import { voidVotesBy } from '../../approvals/deciding.ts';
import { z } from 'zod';
import type { Hsm } from '../../../hsm/api.ts';
import type { Clock } from '../../base/context.ts';
import { fail } from '../../base/errors.ts';
import { durationField, timestampText } from '../../wire/fields.ts';
import { formatOutput, Wire } from '../../wire/schema.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall, type FieldRight } from '../../http/endpoint.ts';
import { naming, type NamedEntry } from '../../http/named-entries.ts';
import { answerList } from '../../http/resource/list-answer.ts';
import { listQuery } from '../../http/resource/list-query.ts';
import { revealSecret } from '../../base/secret.ts';
import { type Store, Unreadable } from '../../store/store.ts';
import { formatTimestamp } from '../../base/time.ts';
import type { Tenants } from '../../access/tenants.ts';
import type { AccessControl } from '../../access/access-control.ts';
import type { PolicyOperation } from '../../access/policy/patterns.ts';
import { requireUnbound } from '../../access/policy/granting.ts';
import { createRootToken } from '../../access/tokens/root-token.ts';
import { isWorking, tokenTable, type TokenRecord } from '../../access/tokens/record.ts';
import { disableToken, drawToken, findToken, refreshToken } from '../../access/tokens/tokens.ts';
import { tags } from '../../http/tags.ts';
import { accessorText, stateOf, tokenState, type TokenState } from './token-state.ts';

const anyToken: NamedEntry = {
  resource: 'keystore/tokens',
  needs: [],
  because: 'The own token needs nothing more; for another one the action needs "read" or "delete" of /v1/state/keystore/tokens/<accessor>.',
};
const rootedTenant: NamedEntry = {
  resource: 'tenants',
  needs: [],
  because: 'Only the policy "root" in the tenant "system" makes root tokens.',
};

const whichToken = z.object({
  token: naming(z.string().max(128), anyToken)
    .optional()
    .meta({ description: 'The token meant.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
  accessor: naming(z.string().max(128), anyToken)
    .optional()
    .meta({ description: 'Or its accessor.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' }),
});
type WhichToken = z.output<typeof whichToken>;

const base = '/v1/state/keystore/token';
const tokensPath = '/v1/state/keystore/tokens';
const shared = { method: 'POST', access: 'token', operation: 'execute', tag: tags.tokens } as const;

export type TokenEndpointOptions = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly tenants: Tenants;
  readonly access: AccessControl;
};

type Named = { readonly accessor: string | undefined; readonly record: TokenRecord | undefined };

const noSuchToken = (): Error => fail('not-found', { detail: 'There is no such token.' });

/** Path at which policies decide about a token other than the caller's, in segments. */
function pathOfToken(accessor: string): readonly string[] {
  return [...tokensPath.slice(1).split('/'), accessor];
}

/** The right to do that to another token, however it is named. */
function rightsAtToken(operation: 'read' | 'delete'): readonly FieldRight[] {
  const when = 'it is not the own token but one with the accessor {}';
  return ['accessor', 'token'].map((field) => ({ field, operation, path: `${tokensPath}/{}`, when }));
}

/**
 * The token actions. Those on a token other than the caller's also need a rule for `/v1/state/keystore/tokens/<accessor>`.
 * Long because it is a list, of which each entry is read by itself.
 */
export function tokenEndpoints({ store, hsm, clock, tenants, access }: TokenEndpointOptions): AnyEndpoint[] {
  /** The accessor that is named, if the policies allow it; the caller's own when none is. With the token, if it is of this tenant and works. */
  function requireAllowed(call: EndpointCall, { token, accessor }: WhichToken, operation: PolicyOperation): Named {
    if (token !== undefined && accessor !== undefined)
      throw fail('invalid-value', { detail: 'Name the token by "token" or by "accessor", not by both.' });
    const named = token === undefined ? (accessor ?? call.caller.accessor) : findToken(store, token, call.now)?.accessor;
    const record = named === undefined ? undefined : tokenTable(store).get([call.caller.tenantId, named]);
    const own = record?.accessor === call.caller.accessor;
    if (!own && !access.decide(call.caller, pathOfToken(named ?? ''), operation).allowed) throw fail('policy-denied');
    return { accessor: named, record: record === undefined || !isWorking(store, record, call.now) ? undefined : record };
  }

  return [
    defineEndpoint<WhichToken, TokenState>({
      ...shared,
      named: 'TokenInfo',
      idempotent: true,
      path: `${base}/info`,
      act: 'none',
      summary: 'What a token is; without fields: the own one',
      description:
        'Named by `token` or by `accessor`. Another token than the own one needs a rule that allows `read` of `/v1/state/keystore/tokens/<accessor>`.',
      audit: 'reads-go-on',
      input: whichToken,
      output: tokenState,
      fieldRights: rightsAtToken('read'),
      auditFields: ['accessor'],
      secretInput: ['token'],
      errors: ['not-found'],
      run(call, input) {
        const { record } = requireAllowed(call, input, 'read');
        if (record === undefined) throw noSuchToken();
        const state = stateOf(store, call.caller, record, call.now);
        if (record.accessor === call.caller.accessor) return state;
        const wire = formatOutput(state, tokenState) as Readonly<Record<string, unknown>>;
        return new Reply(200, new Wire(call.access.asRead(wire, 'accessor', pathOfToken(record.accessor))));
      },
    }),
    defineEndpoint({
      ...shared,
      idempotent: true,
      path: `${base}/refresh`,
      act: 'none',
      summary: 'Give the own token a new expiry',
      description:
        "The value stays. The new expiry is now plus the smaller of `increment` and the token's ttl, never past its longest life.",
      audit: 'required',
      input: z.object({
        increment: durationField({ minSeconds: 1 }).optional().describe('How long it shall live from now; unless given, its ttl.'),
      }),
      output: tokenState,
      auditFields: ['increment'],
      async run(call, { increment }): Promise<TokenState> {
        const record = await store.write((transaction) =>
          refreshToken(transaction, store, call.now, call.caller.tenantId, call.caller.accessor, increment?.seconds),
        );
        if (record === undefined) throw fail('invalid-token');
        return stateOf(store, call.caller, record, call.now);
      },
    }),
    defineEndpoint<WhichToken, undefined>({
      ...shared,
      path: `${base}/disable`,
      act: 'none',
      summary: 'End a token and its children at once',
      description:
        'The token is always named, the own one too: an empty request must not end a root token, which is made once. Approvals that were given with it ' +
        'are void, also where it has logged out since: `accessor` names it then.',
      audit: 'required',
      input: whichToken,
      commandLine: { ends: 'ends the token and every token made with it' },
      fieldRights: rightsAtToken('delete'),
      auditFields: ['accessor'],
      secretInput: ['token'],
      documented: { exampleInput: { accessor: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' } },
      errors: ['not-found'],
      async run(call, input) {
        if (input.token === undefined && input.accessor === undefined)
          throw fail('missing-field', { detail: 'Name the token to end by "token" or by "accessor"; /v1/logout ends the own one.' });
        const { accessor, record } = requireAllowed(call, input, 'delete');
        if (accessor === undefined) throw noSuchToken();
        call.noteAudit({ requestParameters: { accessor } });
        await store.write((transaction) => {
          // An approval outlives the token that has logged out, or has expired.
          const isVoided = voidVotesBy(transaction, store, call.caller.tenantId, accessor);
          if (record !== undefined) disableToken(transaction, store, call.caller.tenantId, accessor);
          else if (!isVoided) throw noSuchToken();
        });
        return undefined;
      },
    }),
    defineEndpoint({
      ...shared,
      path: `${base}/create-root`,
      act: 'change-trust',
      // A tenant that was made again under the name is another one.
      approvedTarget: (_none, { name }) => tenants.findByName(name)?.uuid,
      reservedFor: 'system-root',
      summary: 'Make the root token of a tenant, once',
      description:
        "For the system tenant's root alone. The token is shown this once; a second call is refused with 409, whatever became of the first token.",
      audit: 'required',
      input: z.object({
        name: naming(z.string().max(128), rootedTenant).meta({ description: 'Name of the tenant.', example: 'my-tenant' }),
      }),
      output: z.object({
        accessor: accessorText,
        token: z.uuid().describe('The token; it is shown this once.'),
        creationTime: timestampText().describe('When it was made.'),
      }),
      commandLine: { positional: ['name'], output: 'token' },
      auditFields: ['name'],
      secretOutput: ['token'],
      errors: ['not-found', 'root-token-exists'],
      async run({ caller }, { name }) {
        requireUnbound(caller, 'A root token');
        const token = await drawToken(hsm);
        const madeBy = { tenantId: caller.tenantId, accessor: caller.accessor };
        const issued = await store.write((transaction) => createRootToken(transaction, { store, clock, tenants }, name, token, madeBy));
        return { accessor: issued.accessor, token: revealSecret(issued.token), creationTime: formatTimestamp(issued.creationTime) };
      },
    }),
    defineEndpoint({
      ...shared,
      method: 'GET',
      operation: 'read',
      named: 'Token',
      nameField: 'accessor',
      path: tokensPath,
      summary: 'List the tokens of the tenant by accessor',
      description: 'Tokens that work, without their values. The accessor names a token where it is looked at or ended.',
      audit: 'reads-go-on',
      output: z.array(tokenState),
      query: listQuery,
      run(call) {
        function* entries(after?: string): Iterable<readonly [string, TokenRecord]> {
          for (const [, record] of tokenTable(store).entriesFound([call.caller.tenantId], after === undefined ? {} : { after }))
            // An unreadable record is not a valid token.
            if (!(record instanceof Unreadable) && isWorking(store, record, call.now)) yield [record.accessor, record];
        }
        const count = (): number => Iterator.from(entries()).reduce((total) => total + 1, 0);
        return answerList(call, { path: tokensPath, nameField: 'accessor' }, tokenState, { entries, count }, (_accessor, record) =>
          stateOf(store, call.caller, record, call.now),
        );
      },
    }),
  ];
}
