// Request of CMP over HTTP (RFC 9811): its target, its record, and its answers, which are lines of text where no message can be answered.
import { fail } from '../../../core/base/errors.ts';
import type { EnrolmentServer } from '../../../core/enrolment/enrolment-request.ts';
import { type TextAnswer, TextEnrolmentRequest } from '../../../core/enrolment/text-request.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { readRequestPath } from '../../../core/http/request/path.ts';
import type { CertificateAuthority, EnrolmentSettings } from '../../../core/plugin/services/certificate-authority.ts';
import type { CmpContext } from '../context.ts';
import { messageLimits } from '../message/limits.ts';
import { answerPkiMessage } from '../operations/answer.ts';

/** Parts shared by all requests. */
export type CmpServer = EnrolmentServer & CmpContext;

type Target = { readonly name: string; readonly ca: CertificateAuthority; readonly settings: EnrolmentSettings };

export class CmpHttpRequest extends TextEnrolmentRequest<Target, CmpServer> {
  protected readonly kind = 'cmp';

  protected findTarget(): Target | undefined {
    return findTarget(this.server, this.exchange.target);
  }

  /** Throws the ServiceError that refuses the request. */
  async run(): Promise<TextAnswer> {
    const target = this.begin();
    const { request } = this.exchange;
    if (request.method !== 'POST') throw fail('method-not-allowed', { allow: ['POST'] });
    if (!/^application\/pkixcmp *(?:;|$)/i.test(request.headers['content-type'] ?? ''))
      throw fail('unsupported-media-type', { detail: 'Messages of CMP have the Content-Type application/pkixcmp.' });
    return answerPkiMessage(
      this.server,
      this.callOf(target, () => this.readOctets('message', messageLimits.octets)),
    );
  }

  protected get series(): Pick<Answered, 'method' | 'route'> {
    if (this.target === undefined) return { method: 'any', route: undefined };
    return { method: this.exchange.method, route: '/cmp/{tenant}/{ca}' };
  }

  protected get place(): string {
    return 'CMP';
  }

  /** A certificate whose record cannot be written is not handed out. */
  protected mayGoUnrecorded(status: number): boolean {
    return status !== 200;
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Operations that clients append to a path (RFC 9483 section 6.1): the message says which it is. */
const tails: ReadonlySet<string> = new Set([
  ...[
    'initialization',
    'certification',
    'keyupdate',
    'pkcs10',
    'revocation',
    'getcacerts',
    'getrootupdate',
    'getcertreqtemplate',
    'getcrls',
  ],
]);

/**
 * `/cmp/<tenant_uuid>/<ca_name>`, and for clients of RFC 9811 `/.well-known/cmp/p/<tenant_uuid>~<ca_name>`, both with the name of an operation or without.
 * Unknown, foreign and disabled are one answer.
 */
function findTarget({ authorities }: CmpContext, url: string): Target | undefined {
  const segments = readRequestPath(url)?.segments ?? [];
  const isWellKnown = segments[0] === '.well-known' && segments[1] === 'cmp' && segments[2] === 'p';
  const [, label, ...rest] = isWellKnown ? segments.slice(2) : segments;
  const [tenantId = '', caName = ''] = isWellKnown ? [label?.slice(0, 36), label?.slice(37)] : [label, rest.shift()];
  if (!uuid.test(tenantId) || (isWellKnown && label?.[36] !== '~')) return undefined;
  if (rest.length > 1 || (rest[0] !== undefined && !tails.has(rest[0]))) return undefined;
  const ca = authorities.find(tenantId, caName);
  const settings = ca?.enrolment('cmp');
  return ca === undefined || settings === undefined ? undefined : { name: 'message', ca, settings };
}
