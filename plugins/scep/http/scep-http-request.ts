// Request of SCEP over HTTP (RFC 8894 section 4): its target, its record, and its answers, which are lines of text where no message can be answered.
import { fail } from '../../../core/base/errors.ts';
import type { EnrolmentServer } from '../../../core/enrolment/enrolment-request.ts';
import { type TextAnswer, TextEnrolmentRequest } from '../../../core/enrolment/text-request.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { queryOf, readRequestPath } from '../../../core/http/request/path.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../../../core/plugin/services/certificate-authority.ts';
import type { ScepContext } from '../context.ts';
import { messageLimits } from '../message/limits.ts';
import { decodeMessage, readQuery, type ScepQuery } from '../message/query.ts';
import { operations, type ScepOperation } from '../operations/operations.ts';

/** Parts shared by all requests. */
export type ScepServer = EnrolmentServer & ScepContext;

type Target = {
  readonly name: string;
  readonly operation: ScepOperation;
  readonly ca: CertificateAuthority;
  readonly settings: EnrolmentSettings;
  readonly query: ScepQuery;
};

export class ScepHttpRequest extends TextEnrolmentRequest<Target, ScepServer> {
  protected readonly kind = 'scep';

  protected findTarget(): Target | undefined {
    return findTarget(this.server, this.exchange.target);
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<TextAnswer> {
    const target = this.begin();
    const { request } = this.exchange;
    const { methods } = target.operation;
    if (!methods.includes(request.method ?? '')) throw fail('method-not-allowed', { allow: [...methods] });
    return target.operation.run(
      this.server,
      this.callOf(target, () => this.#readMessage(target.query)),
    );
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.target === undefined) return { method: 'any', route: undefined };
    return { method: this.exchange.method, route: `/scep/{tenant}/{ca}?operation=${this.target.name}` };
  }

  protected get place(): string {
    return 'SCEP';
  }

  /** A certificate whose record cannot be written is not handed out. */
  protected mayGoUnrecorded(status: number): boolean {
    return status !== 200 || this.target?.name !== 'PKIOperation';
  }

  /** The body of a POST, whatever its Content-Type says: two of five clients send none. */
  async #readMessage(query: ScepQuery): Promise<Uint8Array> {
    return this.exchange.method === 'POST' ? this.readOctets('message', messageLimits.octets) : decoded(query);
  }
}

function decoded({ message }: ScepQuery): Uint8Array {
  const octets = message === undefined ? undefined : decodeMessage(message);
  if (octets !== undefined) return octets;
  throw fail('invalid-value', { detail: 'The query parameter message of PKIOperation must be a message of SCEP in base64.' });
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ends that devices append to the URL that they are given. */
const tails: ReadonlySet<string> = new Set(['', 'pkiclient.exe', 'cgi-bin/pkiclient.exe']);

/** `/scep/<tenant_uuid>/<ca_name>?operation=<operation>`. Unknown, foreign and disabled are one answer. */
function findTarget({ authorities }: ScepContext, url: string): Target | undefined {
  const [scep, tenantId = '', caName = '', ...tail] = readRequestPath(url)?.segments ?? [];
  const query = readQuery(queryOf(url));
  const operation = operations.get(query?.operation ?? '');
  if (scep !== 'scep' || !uuid.test(tenantId) || !tails.has(tail.join('/'))) return undefined;
  if (operation === undefined || query?.operation === undefined) return undefined;
  const ca = authorities.find(tenantId, caName);
  const settings = ca?.enrolment('scep');
  return ca === undefined || settings === undefined ? undefined : { name: query.operation, operation, ca, settings, query };
}
