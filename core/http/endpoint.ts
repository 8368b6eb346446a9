// The contract of an endpoint: route, checks, audit record, API description and negative tests come from one definition.
import type { z } from 'zod';
import type { Act } from '../approvals/acts.ts';
import type { Judged } from '../approvals/narrowing.ts';
import type { Authorized } from '../access/access-control.ts';
import type { Caller } from '../access/caller.ts';
import type { TokenRecord } from '../access/tokens/record.ts';
import type { PolicyOperation } from '../access/policy/patterns.ts';
import type { LoginIdentity, UserOrigin } from '../access/user.ts';
import type { Reserved } from '../access/reserved.ts';
import type { AuditRecord, SignedDigest } from '../audit/record.ts';
import type { ClientCertificate } from '../tls/client-certificate.ts';
import type { NamedField } from './named-entries.ts';

/** An authorized request, as an endpoint sees it. */
export type EndpointCall = {
  readonly requestId: string;
  readonly caller: Caller;
  /** decision of access control that allows it; only access control can make one */
  readonly access: Authorized;
  /** Returns the caller as of now; undefined once the credentials have ended. For streams. */
  callerNow(): Caller | undefined;
  /** decoded path parameters by name */
  readonly params: Readonly<Record<string, string>>;
  readonly query: ReadonlyMap<string, string>;
  /** the query as it was sent, without `?`: for endpoints with `anyQuery`, which must see doubled parameters */
  readonly rawQuery: string;
  readonly clientIp: string;
  /** protocol of the request, other than our own API: `vault`, `console` */
  readonly via?: string | undefined;
  /** certificate that the TLS client has shown, judged by nobody; undefined without one */
  readonly certificate?: ClientCertificate | undefined;
  readonly userAgent: string;
  readonly now: Temporal.Instant;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** octets of the `largeField` of the endpoint, in a large body; that text is empty in the input. run() may overwrite them */
  readonly largeText: Uint8Array | undefined;
  /** aborted when the client disconnects; for answers that last until then */
  readonly signal: AbortSignal;
  /** Adds to the audit record of this request, for example the key version used. */
  noteAudit(fields: AuditNote): void;
  /** Notes the token that this request issues, for foreign protocols whose answer tells more of it. */
  noteIssued(token: TokenRecord): void;
  /**
   * Resolves when the request needs no approval of other people for these acts, or has it, which is then spent. Rejects with the refusal otherwise, and
   * with the answer that approval was asked for. Called once, after every check that does not depend on it.
   */
  requireApproval(acts: readonly Act[], subjectOf: () => ApprovalSubject): Promise<void>;
};

/** Part of a request that approvers agree to. */
export type ApprovalSubject = {
  /** paths that it concerns, in decoded segments */
  readonly concerns: readonly (readonly string[])[];
  /** whole content, with secrets; plain data */
  readonly content: unknown;
  /** state of what it changes, another one after every change of that; null if it makes something new */
  readonly target: unknown;
  /** shown to approvers, without secrets; wire form */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** for rules that values narrow; absent: each of them is about it */
  judged?(): Judged;
};

/** Additions of an endpoint to its audit record; logins add tenant, user and accessor. */
export type AuditNote = {
  readonly kind?: 'login' | 'approval';
  readonly tenant?: string;
  readonly user?: string;
  readonly userKind?: UserOrigin['userKind'];
  readonly userSource?: string;
  readonly identity?: LoginIdentity;
  readonly accessor?: string;
  readonly possibleTenants?: number;
  readonly code?: string;
  readonly keyVersion?: number;
  readonly signedDigest?: SignedDigest;
  readonly created?: readonly string[];
  readonly requestParameters?: NonNullable<AuditRecord['requestParameters']>;
  readonly acts?: readonly Act[];
  readonly outsideRules?: AuditRecord['outsideRules'];
  readonly approval?: string;
  readonly approvers?: AuditRecord['approvers'];
  readonly query?: Readonly<Record<string, unknown>>;
  /** others that the request concerns equally, as a login with a role-id that several tenants have: each gets its own record */
  readonly alsoOf?: readonly (Pick<AuditNote, 'tenant' | 'user' | 'userKind' | 'userSource'> & { readonly tenantId?: string })[];
};

/** A call of a public endpoint, without a caller. */
export type PublicCall = Omit<EndpointCall, 'caller' | 'access' | 'callerNow' | 'requireApproval'>;

/**
 * An answer that is more than a JSON body with status 200. A string or Uint8Array needs a content-type header and is sent as it
 * is; an async iterable of strings is sent piece by piece; a `Wire` is sent untranslated; anything else is formatted as JSON.
 */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  /** a list becomes one header line per item (`set-cookie`) */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** runs once the record is on the disk, and before the answer is sent: nothing can be recorded after it */
  readonly last: (() => Promise<void>) | undefined;
  /** A string or Uint8Array body is sent unchanged, under the `content-type` of the headers; anything else becomes JSON. */
  constructor(
    status: number,
    body?: unknown,
    headers: Readonly<Record<string, string | readonly string[]>> = {},
    last?: () => Promise<void>,
  ) {
    this.status = status;
    this.body = body;
    this.headers = headers;
    this.last = last;
  }
}

/** A group of operations in the API description: plain words in kebab-case, because generated clients make a class of it. */
export type Tag = { readonly name: string; readonly description: string };

type Shared = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/v1/state/keystore/transit-keys/{name}/encrypt` */
  readonly path: string;
  readonly summary: string;
  /** description beyond the summary; every operation of the appliance has one */
  readonly description?: string;
  readonly tag: Tag;
  /** name in generated clients, where the one made from the path would say little; never changed once published */
  readonly operationId?: string;
  /**
   * Base of the names of its schemas in the API description: `Encrypt` makes EncryptRequest and EncryptAnswer; for a list, the name
   * of an entry. Default: the operationId.
   */
  readonly named?: string;
  /**
   * The field (as on the wire) that names the entry, or each entry of the list, in the answers. No policy hides it, so that programs can
   * rely on it; `keys=true` answers it too.
   */
  readonly nameField?: string;
  /** an idempotent POST; GET, PUT and DELETE always are */
  readonly idempotent?: true;
  /**
   * `required`: refused when the audit trail cannot be written (changes, private-key uses, logins). `reads-go-on`: plain reads.
   * `none`: public answers that are the same for all callers (health, API description); they leave no record.
   */
  readonly audit: 'required' | 'reads-go-on' | 'none';
  /** input fields (camelCase) whose values are in the audit record; all others are left out */
  readonly auditFields?: readonly string[];
  /** every code beyond those of the pipeline that run() may throw */
  readonly errors?: readonly string[];
  /** octets; default 4 MiB */
  readonly bodyLimit?: number;
  /** input field (camelCase) that may be most of a large body: run() then finds it in `call.largeText`, without a copy */
  readonly largeField?: string;
  /** query parameters the endpoint takes, by name */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  /** takes any query parameter, because other services redirect here and add their own; run() checks `call.rawQuery` */
  readonly anyQuery?: true;
  /**
   * Media type of the body, default JSON. A form (`application/x-www-form-urlencoded`) arrives as an object of strings with the
   * field names as sent; a body of any other type arrives as Uint8Array, and `input` stays undefined.
   */
  readonly consumes?: string;
  /** a GET with an effect: HEAD is refused with 405 */
  readonly noHead?: true;
  /** media type of 2xx answers that are not JSON, e.g. `application/x-ndjson` */
  readonly produces?: string;
  readonly successStatus?: number;
  /** works while a destination with `on-lag: block` is too far behind: for operations that must never depend on a receiver */
  readonly whileBehind?: true;
  /** only for a page of the appliance, and not part of the API description */
  readonly undescribed?: true;
  /** not served if another endpoint has the same method and path: a page of a plugin that another plugin may replace */
  readonly yields?: true;
  /** a use of keys that changes nothing: it continues in an isolated appliance, if the administrator allows that */
  readonly whileIsolated?: true;
  /**
   * a read with which an administrator sees why an appliance is isolated: it is answered from the last state, and says so. A refused caller
   * learns no more than with any other request.
   */
  readonly whileCutOff?: true;
  /** works while the appliance waits for the PIN; all others answer `sealed` */
  readonly whileSealed?: true;
  /** more for the API description: resources parse their input in several steps */
  readonly documented?: Documented;
  /** form of values on the command line, beyond one flag per field */
  readonly commandLine?: CommandLineHints;
  /** settings of the entry in the path, as on the wire, without any of which there is no use for it: `scep/enabled`. For pages, and not checked */
  readonly usefulWith?: readonly string[];
};

/** The description of a text parameter, or description and JSON schema of any other. An undescribed one is served and not described. */
export type QueryParameter =
  | string
  | { readonly description: string; readonly schema: Readonly<Record<string, unknown>>; readonly undescribed?: true };

/** For the API description alone. */
export type Documented = {
  readonly input?: z.ZodType;
  readonly output?: z.ZodType;
  /** descriptions of names in the path that are not names of a resource's entries */
  readonly names?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  /** an input whose required fields may be absent */
  readonly merge?: true;
  /** replaces examples made from the fields, in wire form */
  readonly exampleInput?: Readonly<Record<string, unknown>>;
  readonly exampleOutput?: Readonly<Record<string, unknown>>;
  /** other statuses with the same headers and, except for 304, the same body, with their conditions: health that is down, a range of a file */
  /** of an answer 204 without a body, beside that with `output` */
  readonly empty?: string;
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** headers of 2xx answers */
  readonly headers?: DescribedHeaders;
  /** headers that the endpoint reads, beyond those of every request and the preconditions of resources */
  readonly requestHeaders?: DescribedHeaders;
  /** set for endpoints of a resource: of its list, or of one entry, which has an entity tag */
  readonly resource?: { readonly form: 'list' | 'entry'; readonly tree: 'config' | 'state'; readonly facts: ResourceFacts };
};

type DescribedHeaders = Readonly<Record<string, { readonly description: string; readonly schema: Readonly<Record<string, unknown>> }>>;

/** The part of a resource that the API description needs; fields as in Resource. */
export type ResourceFacts = {
  readonly noun: string;
  readonly namePattern?: RegExp;
  readonly stateFields: z.ZodObject;
  readonly creationFields?: readonly string[];
  readonly oneWayFields?: readonly string[];
  readonly secretFields?: readonly string[];
  readonly notRemovableByMerge?: readonly string[];
  warnings?(document: never): readonly string[];
};

/** Names of fields in camelCase; a misspelt one stops the start. */
export type CommandLineHints = {
  /** input fields given as arguments after the names of the path: `trim 3` */
  readonly positional?: readonly string[];
  /** the input field that `--in` fills from a file */
  readonly input?: string;
  /** the field of the answer that `--out` writes to a file; inside containers `keys.0.keyblock` */
  readonly output?: string;
  /** values of input fields with which `output` is base64 of octets, and `--out` writes these: `{ format: 'binary' }` */
  readonly octetsWith?: Readonly<Record<string, string>>;
  /** the boolean of the answer that decides the exit code */
  readonly verdict?: string | readonly string[];
  /** permanent effect of the operation, following "this": the command line asks for confirmation on a terminal */
  readonly ends?: string;
};

/**
 * Schemas are zod objects in camelCase; the wire uses kebab-case, and core/wire/schema.ts translates (and refuses unknown fields).
 * `find` runs after the policy and before the body is read as a value, so that 404 comes before 400 (api 55); what it returns
 * is handed to `run`.
 */
export type Endpoint<Input, Output, Target> = Shared & {
  readonly access: 'token';
  readonly operation: PolicyOperation;
  /** action as which policies judge it: a rule for `encrypt` also covers `encrypt-batch` */
  readonly judgedAs?: JudgedAs;
  /**
   * Acts of a request, for which rules may need the approval of other people: one, those that a function finds in the input (wire form aside) and the
   * target, or `none`. `by-document`: run() finds them and calls `requireApproval`. Absent: `none` for a GET; any other counts as every act.
   */
  readonly act?: Act | 'none' | 'by-document' | ((call: EndpointCall, input: Input, target: Target) => readonly Act[]);
  /** Facts for approvers besides the fields of the audit record, in wire form: values of absent fields, fingerprints; no secret. Throws what refuses the request. */
  shown?(input: Input): Readonly<Record<string, unknown>>;
  /** paths that a request concerns besides its own, for rules of approvals about paths: of an entry that the input names */
  concerns?(call: EndpointCall, input: Input): readonly (readonly string[])[];
  /** On which state an approval depends: the part of the target without what uses of it write there, or what the input names. Default: the target. */
  approvedTarget?(found: Target, input: Input): unknown;
  /** checked right after the policies, by `policy/check` too */
  readonly reservedFor?: Reserved;
  /** fields of the entry in the path whose named entries it uses again, as a renewal the issuer; run() checks them by requireNamed */
  readonly usesNamed?: readonly NamedField[];
  /** needs of a request besides, by fields; run() checks them */
  readonly fieldRights?: readonly FieldRight[];
  /** the same where a PUT makes the entry */
  readonly creationRights?: readonly FieldRight[];
  readonly input?: z.ZodType<Input>;
  readonly output?: z.ZodType<Output>;
  /** fields (camelCase) that hold secrets or payloads, for the API description, logs and tests */
  readonly secretInput?: readonly (keyof Input & string)[];
  readonly secretOutput?: readonly (keyof Output & string)[];
  find?(call: EndpointCall): Target;
  /** Completes the input with the values of absent fields in this call, for policies that restrict values. */
  complete?(call: EndpointCall, input: Input, target: Target): Input;
  run(call: EndpointCall, input: Input, target: Target): Output | Reply | Promise<Output | Reply>;
};

/**
 * Need of a request besides the right to it, by a field of the request (also of its query) or of the entry in its path. Either a right, whose path
 * has the parameters of the path of the request, or a policy that the token must have. `{}` stands for a name in the field.
 */
export type FieldRight = {
  readonly field: string;
  /** condition, following "where"; absent: wherever the field has another value */
  readonly when?: string;
} & ({ readonly operation: PolicyOperation; readonly path: string } | { readonly policy: 'root' | '{}' });

/** The action that policies see instead of the requested one. */
export type JudgedAs = {
  /** last segment of the path that policies see */
  readonly action: string;
  /** fields (wire form) that a request for that action would have besides those of this one, for `allowed-values` */
  readonly fields?: Readonly<Record<string, unknown>>;
};

export type PublicEndpoint<Input, Output> = Shared & {
  readonly access: 'public';
  readonly input?: z.ZodType<Input>;
  readonly output?: z.ZodType<Output>;
  readonly secretInput?: readonly (keyof Input & string)[];
  readonly secretOutput?: readonly (keyof Output & string)[];
  /** for browsers: refusals, including those of the checks, are pages unless JSON is preferred */
  readonly page?: true;
  run(call: PublicCall, input: Input): Output | Reply | Promise<Output | Reply>;
};

export type AnyEndpoint = Endpoint<never, never, never> | PublicEndpoint<never, never>;

/** Checks the types of an endpoint (a misspelt secret field does not compile); the registry does not keep them. */
export function defineEndpoint<Input, Output, Target = undefined>(endpoint: Endpoint<Input, Output, Target>): AnyEndpoint {
  return endpoint as unknown as AnyEndpoint;
}
export function definePublicEndpoint<Input, Output>(endpoint: PublicEndpoint<Input, Output>): AnyEndpoint {
  return endpoint as unknown as AnyEndpoint;
}
