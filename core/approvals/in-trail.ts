// Looks through an audit trail for acts that ran under a rule of approvals without the approvals that it needs.
import { counted } from '../base/texts/counted.ts';
import type { CheckFinding } from '../base/context.ts';
import type { TrailRecord } from '../audit/line.ts';
import { listStreams } from '../log/stream-files.ts';
import { linesOf } from '../audit/verify.ts';
import { parseLine } from '../audit/line.ts';
import type { Act } from './acts.ts';
import { areOutside, type Outside, type Values } from './narrowing.ts';
import { fitting, type NamedRule } from './rules.ts';
import { isJsonObject } from '../wire/json.ts';

/** A rule as the trail has it, in force from a time on, in milliseconds since 1970. `before`: as it was until then. */
type KnownRule = NamedRule & { readonly sinceMs: number; readonly before?: KnownRule | undefined };

/** A request that was decided before a rule was there may be recorded after it. */
const graceMs = 60_000;

const rulesPath = '/v1/config/approval/rules';

/**
 * Finds them in the directories of a trail. A rule counts from the record of its creation on: one that was made before the trail begins, or
 * came with a restore, is not known.
 */
export async function findUnapproved(directories: readonly string[]): Promise<readonly CheckFinding[]> {
  const records = await relevantRecords(directories);
  const judge = new Judge(refusedMarks(records.map(({ record }) => record)));
  for (const { record, where } of records) judge.follow(record, where);
  return judge.findings;
}

type Placed = { readonly record: TrailRecord; readonly where: string };

/** Records of acts, of decisions, and of what changes rules, in the order of time. */
async function relevantRecords(directories: readonly string[]): Promise<readonly Placed[]> {
  const found: Placed[] = [];
  for (const directory of directories)
    for (const files of (await listStreams(directory)).values())
      for (const file of files)
        for await (const { octets, where } of linesOf(file)) {
          const record = parseLine(octets);
          if (record !== undefined && isRelevant(record)) found.push({ record, where });
        }
  return found.toSorted((one, other) => compare(one.record, other.record));
}

function isRelevant({ acts, kind, path, code, event }: TrailRecord): boolean {
  return (
    (Array.isArray(acts) && acts.length > 0) ||
    (kind === 'approval' && typeof path === 'string') ||
    code === 'break-glass' ||
    code === 'break-glass-refused' ||
    event === 'restored'
  );
}

/** Ids of break-glass that was refused in the end. It may be on record before, while the store took no change: its rules have stayed. */
function refusedMarks(records: readonly TrailRecord[]): ReadonlySet<unknown> {
  return new Set(records.flatMap(({ code, 'request-id': id }) => (code === 'break-glass-refused' ? [id] : [])));
}

function compare(one: TrailRecord, other: TrailRecord): number {
  if (one['occurred-at'] !== other['occurred-at']) return one['occurred-at'] < other['occurred-at'] ? -1 : 1;
  return one.sequence - other.sequence;
}

type Fields = Readonly<Record<string, unknown>>;

class Judge {
  readonly findings: CheckFinding[] = [];
  /** by tenant and name */
  readonly #rules = new Map<string, Map<string, KnownRule>>();
  /** identities that have approved, by request */
  readonly #approved = new Map<string, Set<string>>();
  /** requests whose approval an act has used */
  readonly #used = new Set<string>();
  readonly #refusedMarks: ReadonlySet<unknown>;

  constructor(refusedMarks: ReadonlySet<unknown>) {
    this.#refusedMarks = refusedMarks;
  }

  follow(record: TrailRecord, where: string): void {
    const { kind, event, code, status, acts } = record;
    if (event === 'restored') return this.#rules.clear();
    if (code === 'break-glass-refused') return;
    if (code === 'break-glass') {
      if (!this.#refusedMarks.has(record['request-id'])) this.#rules.delete(String(record['tenant-id']));
      return;
    }
    if (kind === 'approval') return this.#noteDecision(record);
    if (typeof status !== 'number' || status >= 300 || status === 202) return;
    this.#noteUse(record, where);
    this.#judge(record, acts as readonly Act[], where);
    this.#noteRule(record);
  }

  /** An approval is for one act: who puts an earlier state of the store back can use it again, but not without a second record. */
  #noteUse(record: TrailRecord, where: string): void {
    const { approval } = record;
    if (typeof approval !== 'string') return;
    if (this.#used.has(approval)) this.#report(where, record, 'ran with an approval that another act had used before');
    this.#used.add(approval);
  }

  #noteDecision({ path, status, approval, identity }: TrailRecord): void {
    const decided = /\/approvals\/[^/]+\/(approve|reject|withdraw)$/.exec(String(path))?.[1];
    if (decided === undefined || status !== 200) return;
    const known = this.#approved.get(String(approval)) ?? new Set();
    this.#approved.set(String(approval), known);
    if (decided === 'approve') known.add(JSON.stringify(identity));
    else known.delete(JSON.stringify(identity));
  }

  #judge(record: TrailRecord, acts: readonly Act[], where: string): void {
    const tenant = this.#rules.get(String(record['tenant-id']));
    if (tenant === undefined) return;
    const atMs = Date.parse(record['occurred-at']);
    const isUnder = (rule: KnownRule): boolean =>
      fitting([rule], acts, pathsOf(record)).length > 0 &&
      (acts.includes('change-trust') || !areOutside(rule, outsideBy(record, rule.name)));
    const rules = Array.from(tenant.values(), (rule) => inForceAt(rule, atMs)).filter((forms) => forms.length > 0 && forms.every(isUnder));
    const { approval } = record;
    const approvers = new Set((Array.isArray(record['approvers']) ? (record['approvers'] as Fields[]) : []).map(identityText));
    for (const forms of rules) {
      const [{ name }] = forms as [KnownRule];
      const needed = Math.min(...forms.map((one) => one.needed));
      if (approval === undefined) this.#report(where, record, `ran without approval under the rule "${name}"`);
      else if (approvers.size < needed)
        this.#report(where, record, `ran with ${counted(approvers.size, 'approval')}, and the rule "${name}" needs ${needed}`);
    }
    const unrecorded = [...approvers].filter((one) => this.#approved.get(String(approval))?.has(one) !== true);
    if (typeof approval === 'string' && rules.length > 0 && unrecorded.length > 0)
      this.#report(
        where,
        record,
        `names ${unrecorded.length} approvers of whose approval of the request ${approval} the trail has no record before it`,
      );
  }

  #report(where: string, { method, path }: TrailRecord, problem: string): void {
    this.findings.push({ where, problem: `${String(method)} ${String(path)} ${problem}` });
  }

  #noteRule(record: TrailRecord): void {
    const { method, path } = record;
    if (typeof path !== 'string' || !path.startsWith(rulesPath)) return;
    const tenantId = String(record['tenant-id']);
    const rules = this.#rules.get(tenantId) ?? new Map<string, KnownRule>();
    this.#rules.set(tenantId, rules);
    const stated = (record['request-parameters'] ?? {}) as Fields;
    const sinceMs = Date.parse(record['occurred-at']);
    if (path === `${rulesPath}-batch`) {
      const created = new Set(Array.isArray(record['created']) ? record['created'] : []);
      const documents = Array.isArray(stated['documents']) ? (stated['documents'] as Fields[]) : [];
      for (const one of documents) if (created.has(one['name'])) rules.set(String(one['name']), ruleOf(one, sinceMs));
      return;
    }
    const name = path === rulesPath ? String(stated['name']) : decodeURIComponent(path.slice(rulesPath.length + 1));
    if (method === 'DELETE') return void rules.delete(name);
    const before = method === 'PATCH' ? rules.get(name) : undefined;
    const whole = before === undefined ? stated : merged(before, stated, (record['query'] as Fields | undefined)?.['lists'] === 'replace');
    rules.set(name, { ...ruleOf({ ...whole, name }, sinceMs), before: withoutPast(rules.get(name), sinceMs) });
  }
}

/** The forms of a rule of which one decided about a request that was recorded then; none if it may have been decided before there was a rule. */
function inForceAt(rule: KnownRule, atMs: number): readonly KnownRule[] {
  const { sinceMs, before } = rule;
  if (atMs >= sinceMs + graceMs) return [rule];
  const forms = before === undefined ? [] : inForceAt(before, atMs);
  return forms.length === 0 ? [] : [rule, ...forms];
}

/** A rule that is replaced, without what it was when nothing that is still to be recorded was decided. */
function withoutPast(rule: KnownRule | undefined, nowMs: number): KnownRule | undefined {
  return rule === undefined || nowMs < rule.sinceMs + graceMs ? rule : { ...rule, before: undefined };
}

/** A rule whose creation is not known is taken for one about nothing but trust. */
function ruleOf(stated: Fields, sinceMs: number): KnownRule {
  return {
    ...{ approvers: [], approveWithin: '', useWithin: '', force: false },
    name: String(stated['name']),
    acts: (stated['acts'] as readonly Act[] | undefined) ?? [],
    paths: (stated['paths'] as readonly string[] | undefined) ?? [],
    values: (stated['values'] as Values | undefined) ?? {},
    needed: Number(stated['needed'] ?? 1),
    sinceMs,
  };
}

/** The fields of a rule after a merge, as far as they are followed. */
function merged({ acts, paths, values = {}, needed }: KnownRule, stated: Fields, replacesLists: boolean): Fields {
  const overlay = (below: Fields, top: Fields): Fields => {
    const whole: Record<string, unknown> = { ...below };
    for (const [name, value] of Object.entries(top)) {
      const before = whole[name];
      if (value === null) delete whole[name];
      else if (Array.isArray(before) && Array.isArray(value) && !replacesLists) whole[name] = [...new Set([...before, ...value])];
      else whole[name] = isJsonObject(before) && isJsonObject(value) ? overlay(before, value) : value;
    }
    return whole;
  };
  return overlay({ acts, paths, values, needed }, stated);
}

/** The values by which a record says that it was not under a rule. */
function outsideBy({ 'outside-rules': noted }: TrailRecord, rule: string): Outside['by'] {
  const all = Array.isArray(noted) ? (noted as Fields[]) : [];
  return all.flatMap((one) => (one['rule'] === rule ? [{ field: String(one['field']), values: [one['values']].flat() }] : []));
}

/** The paths that a record concerns; none for the appliance as a whole. The path of a creation does not name the entry. */
function pathsOf({ path, method, 'request-parameters': stated }: TrailRecord): readonly (readonly string[])[] {
  const text = String(path);
  if (/^\/v1\/(?:config\/tenants|state\/tenants|state\/system|state\/keystore\/system)(?:\/|$)/.test(text)) return [];
  const name = method === 'POST' && text.startsWith('/v1/config/') ? (stated as Fields | undefined)?.['name'] : undefined;
  const segments = text.split('/').slice(1).map(decodeURIComponent);
  return [typeof name === 'string' ? [...segments, name] : segments];
}

function identityText({ identity }: Fields): string {
  return JSON.stringify(identity);
}
