// The gate of approvals: after every check of a request, and before its endpoint runs, or before the commit of a change of a resource.
import { type Act, acts as everyAct } from '../../approvals/acts.ts';
import { ask, type Guarded, personOf, spend } from '../../approvals/asking.ts';
import { digestOf, wordsOf } from '../../approvals/digest.ts';
import { withoutFields } from '../../access/policy/constraints.ts';
import { identityKey } from '../../access/user.ts';
import { type Judged, type Outside, outsideOf } from '../../approvals/narrowing.ts';
import type { Approval } from '../../approvals/records.ts';
import { type Approvals, fitting, type NamedRule } from '../../approvals/rules.ts';
import { fail } from '../../base/errors.ts';
import { counted } from '../../base/texts/counted.ts';
import type { Store } from '../../store/store.ts';
import { replaceUnseen } from '../../wire/unseen-text.ts';
import { toKebab, Wire, withChangedField } from '../../wire/schema.ts';
import { type AnyEndpoint, type ApprovalSubject, Reply } from '../endpoint.ts';
import { judgedSegments } from '../judged-path.ts';
import { queryOf } from '../request/path.ts';
import { inWhole, requestParameters, shortened } from '../audit-parameters.ts';
import type { AllowedCall, ApiRequest } from './api-request.ts';

/** Ends a request that has asked for approval, with the answer that says so. */
export class AskedForApproval extends Error {
  override readonly name = 'AskedForApproval';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super('approval was asked for');
    this.reply = reply;
  }
}

const shortestReason = 8;
const longestReason = 512;

/**
 * The acts that an endpoint declares for a request; undefined for one that does not come to the gate, or not yet. An endpoint that changes something and says
 * nothing counts as every act.
 */
export function actsOf(endpoint: AnyEndpoint, call: AllowedCall, input: unknown, found: unknown): readonly Act[] | undefined {
  if (endpoint.access === 'public') return undefined;
  const { act, method, query = {} } = endpoint;
  if (Object.hasOwn(query, 'validate') && call.query.get('validate') === 'true') return undefined;
  if (act === undefined) return method === 'GET' ? undefined : everyAct;
  if (act === 'none' || act === 'by-document') return undefined;
  if (typeof act === 'function') return act(call, input as never, found as never);
  return [act];
}

const none: readonly NamedRule[] = [];

/**
 * As `requireApproval` of a call. Undefined, without any work, where no rule of the tenant is about the request, and it names no approval: one that does runs with
 * exactly that, or not at all. Nobody shall take for approved what is not.
 */
export function passGate(context: ApiRequest, acts: readonly Act[], subjectOf: () => ApprovalSubject): Promise<void> | undefined {
  const {
    caller,
    exchange: { headers },
    server: { approvals },
  } = context;
  if (caller === undefined) return undefined;
  if (acts.length > 0) context.note.acts = acts;
  const every = acts.length === 0 ? none : approvals.rules.of(caller.tenantId);
  const isNamed = headers.approval !== undefined;
  if (every.length === 0 && !isNamed) return undefined;
  const subject = subjectOf();
  const inPlace = fitting(every, acts, subject.concerns);
  // Changes of trust fall under every rule.
  const isNarrowed = !acts.includes('change-trust') && inPlace.some(({ values }) => values !== undefined);
  const outside = isNarrowed ? outsideOf(inPlace, subject.judged?.()) : [];
  if (outside.length > 0) context.note.outsideRules = outsideNote(outside);
  const rules = fitting(inPlace, acts, subject.concerns, outside);
  return rules.length === 0 && !isNamed ? undefined : requireOne(context, approvals, { acts, outside }, subject, rules);
}

/**
 * Throws `approval-needed` where a rule is about further requests that make the answer of this one, which carries no approval for them. Rules that values
 * narrow judge those requests themselves.
 */
export function requireFreeFurther(context: ApiRequest): void {
  const further = context.exchange.furtherActs?.();
  const { caller, server } = context;
  if (further === undefined || caller === undefined) return;
  const every = server.approvals.rules.of(caller.tenantId);
  if (every.length === 0) return;
  const rules = fitting(every, further.acts, [further.path.split('/').slice(1)]);
  const certain = rules.filter(({ values = {} }) => Object.keys(values).length === 0 || further.acts.includes('change-trust'));
  if (certain.length > 0) throw neededBy(context, certain);
}

async function requireOne(
  context: ApiRequest,
  { store }: Approvals,
  judged: Pick<Guarded, 'acts' | 'outside'>,
  subject: ApprovalSubject,
  rules: readonly NamedRule[],
): Promise<void> {
  const { approval: id, 'approval-reason': reason } = context.exchange.headers;
  if (id !== undefined && reason !== undefined)
    throw refusedHeader('approval', 'Send "Approval" to use an approval, or "Approval-Reason" to ask for one, not both.');
  if (id === undefined && reason === undefined) throw neededBy(context, rules);
  const guarded = guardedBy(context, store, judged, subject);
  if (reason !== undefined) {
    const isRequired = rules.some(({ reasonRequired = true }) => reasonRequired);
    const asked = await ask(store, guarded, rules, readReason(reason, isRequired));
    context.note.kind = 'approval';
    context.note.approval = asked.id;
    throw new AskedForApproval(askedReply(asked, rules));
  }
  const spent = await spend(store, guarded, readId(id));
  context.note.approval = spent.id;
  context.note.approvers = spent.votes.map(({ user, identity, accessor }) => ({ user, identity, accessor }));
}

function guardedBy(
  context: ApiRequest,
  store: Store,
  { acts, outside }: Pick<Guarded, 'acts' | 'outside'>,
  { concerns, content, target, parameters }: ApprovalSubject,
): Guarded {
  const { caller, now, clientIp, path, route, exchange } = context;
  if (caller === undefined) throw new Error('a request without a caller has come to the gate of approvals');
  const { method, path: endpoint } = route.endpoint;
  const facts = route.endpoint.access === 'token' ? route.endpoint.shown?.(context.input as never) : undefined;
  const query = [...new URLSearchParams(queryOf(exchange.target))].toSorted(([left], [right]) => (left < right ? -1 : 1));
  // Two issuers of workloads may have the same iss, and other keys: none of them makes the requests of the other.
  const issuer = caller.userKind === 'workload' ? [caller.userSource] : [];
  const by = [identityKey(personOf(caller).identity), ...issuer].join(' ');
  const digest = digestOf(store, [caller.tenantId, by, method, endpoint, path.segments, query, content, target]);
  return {
    caller,
    clientIp,
    now,
    method,
    endpoint,
    path: path.text,
    concerns,
    acts,
    outside,
    digest,
    parameters: legible(withinRoom({ ...parameters, ...facts })),
  };
}

/** For the record of a request, from which somebody finds out later that no rule was passed over. */
function outsideNote(outside: readonly Outside[]): NonNullable<ApiRequest['note']['outsideRules']> {
  return outside.flatMap(({ name, by }) => by.map(({ field, values }) => ({ rule: name, field, values: shortened(values) })));
}

/** Approvers see lists and texts of any length; what takes more room than this, by size and digest. */
const mostShown = 128 << 10;

function withinRoom(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return JSON.stringify(parameters).length <= mostShown ? parameters : (shortened(parameters) as Readonly<Record<string, unknown>>);
}

/** Approvers must see each character: bidirectional controls make a text read as another one. The digest has it as it was sent. */
function legible(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const shown = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? value.replaceAll(/[^\n]+/g, (line) => replaceUnseen(line, '\u{FFFD}')) : value;
  return JSON.parse(JSON.stringify(parameters, shown)) as Record<string, unknown>;
}

const namesOf = (roles: NamedRule['approvers']): string => roles.map(({ name }) => name).join(', ');

function neededBy({ exchange: { via } }: ApiRequest, rules: readonly NamedRule[]): Error {
  const texts = rules.map(
    ({ name, needed, approvers, distinctGroups = [] }) =>
      `"${name}" needs ${counted(needed, 'approval')} of people of ${namesOf(approvers)}${distinctGroups.length === 0 ? '' : `, among them another of each of ${distinctGroups.map((group) => `(${namesOf(group)})`).join(', ')}`}`,
  );
  const way =
    via === undefined || via === 'console'
      ? 'Send it with the header Approval-Reason to ask for them'
      : `Requests over ${via} cannot carry an approval: send it to /v1, with the header Approval-Reason, to ask for them`;
  return fail('approval-needed', {
    detail: `Other people must approve this: the rule ${texts.join(', and ')}. ${way}.`,
    items: rules.map(({ name, needed }) => ({ message: `needs ${counted(needed, 'approval')}`, info: name })),
  });
}

/** The text of a header that is percent-encoded UTF-8 (RFC 3986): a repeated header, which node joins with a comma and a space, is not. */
function readReason(header: string | string[], isRequired: boolean): string {
  const sent = String(header);
  if (sent === '' && !isRequired) return '';
  const text = /^[\w\-.~!*'()%]+$/.test(sent) ? decoded(sent) : undefined;
  const shown = text === undefined ? '' : replaceUnseen(text, '�').trim();
  if (shown.length >= shortestReason && shown.length <= longestReason) return shown;
  throw refusedHeader(
    'approval-reason',
    `"Approval-Reason" must be ${shortestReason} to ${longestReason} characters in percent-encoded UTF-8, once: "new%20partner%20bank".`,
  );
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readId(header: string | string[] | undefined): string {
  const sent = String(header);
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(sent)) return sent;
  throw refusedHeader('approval', '"Approval" must be the id of one request for approval.');
}

function refusedHeader(name: string, detail: string): Error {
  return fail('invalid-value', { detail, items: [{ message: 'is not as it must be', info: name }] });
}

/** 202 with the id under which the same request, sent once more, runs when it is approved. */
function askedReply({ id, digest, approveUntil }: Approval, rules: readonly NamedRule[]): Reply {
  const needed = Math.max(...rules.map((rule) => rule.needed));
  const body = { id, needed, expires: approveUntil, digest, 'digest-words': wordsOf(digest) };
  return new Reply(202, new Wire(body), { location: `/v1/state/approvals/${id}` });
}

/** The subject of a request to an action: its input as it was parsed, and what it found. */
export function subjectOfAction(context: ApiRequest): ApprovalSubject {
  const { route, path, input, largeText, found } = context;
  const { endpoint } = route;
  const stated = largeText === undefined ? input : { ...(input as object), [endpoint.largeField ?? '']: largeText };
  const written = input instanceof Uint8Array ? input : route.wireInput(input);
  const isOfAppliance = endpoint.access === 'token' && endpoint.reservedFor !== undefined;
  return {
    concerns: isOfAppliance ? [] : [judgedSegments(endpoint, path.segments), ...(concernsOf(context) ?? [])],
    content: largeText === undefined ? written : [written, largeText],
    target: approvedTargetOf(context, found) ?? null,
    parameters: requestParameters(route.auditFields, stated, true, inWhole) ?? {},
    judged: () => judgedAction(context),
  };
}

/** Content of an action, absent fields with what they stand for, without secrets. */
function judgedAction({ route, input, found, call }: ApiRequest): Judged {
  const { endpoint } = route;
  const isComplete = endpoint.access === 'token' && endpoint.complete !== undefined && call !== undefined;
  const meant = isComplete ? endpoint.complete?.(call, input as never, found as never) : input;
  const unseen = [...(endpoint.secretInput ?? []), ...(endpoint.largeField === undefined ? [] : [endpoint.largeField])];
  const { constrainedShape } = route;
  return {
    documents: [withoutFields(route.constrainedInput(meant), unseen.map(toKebab))],
    shape: constrainedShape && unseen.reduce((shape, field) => withChangedField(shape, [field], () => undefined), constrainedShape),
  };
}

function concernsOf({ route: { endpoint }, call, input }: ApiRequest): readonly (readonly string[])[] | undefined {
  return endpoint.access === 'token' && call !== undefined ? endpoint.concerns?.(call, input as never) : undefined;
}

/** The part of the target of a request on which its approval depends. */
export function approvedTargetOf({ route: { endpoint }, input }: ApiRequest, found: unknown): unknown {
  return endpoint.access === 'token' && endpoint.approvedTarget !== undefined
    ? endpoint.approvedTarget(found as never, input as never)
    : found;
}

/** Tells whether what a request is about is as it was. */
export function isSameTarget({ store }: Approvals, one: unknown, other: unknown): boolean {
  return digestOf(store, [one ?? null]) === digestOf(store, [other ?? null]);
}
