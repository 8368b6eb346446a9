// The one reading of a request path: decoded segments that routes, policies and the audit trail all see.

/** A path in its normal form. */
export type RequestPath = {
  /** decoded; never empty, `.` or `..`, never with control characters; a `/` can only have come from `%2F` */
  readonly segments: readonly string[];
  /** the normal spelling of these segments */
  readonly text: string;
};

/** Longest accepted path: three percent-encoded names of 256 characters fit. */
const maxPathLength = 8_192;

/**
 * Reads the target of a request line. One slash at the end is dropped and percent-encoding undone, once, segment by segment, so
 * every spelling of a path is one path. Undefined for a target without a normal form, which names nothing: empty, `.` and `..`
 * segments, control characters, broken percent-encoding or UTF-8, octets outside ASCII.
 */
export function readRequestPath(target: string): RequestPath | undefined {
  const path = pathOf(target);
  if (path.length > maxPathLength || path.charCodeAt(0) !== 0x2f) return undefined;
  const plain = plainPath.test(path);
  const segments = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined).split('/');
  if (segments.length === 1 && segments[0] === '') return { segments: [], text: '/' };
  for (const [index, segment] of segments.entries()) {
    const decoded = plain ? segment : decodeSegment(segment);
    if (decoded === undefined || decoded === '' || decoded === '.' || decoded === '..') return undefined;
    segments[index] = decoded;
  }
  return { segments, text: formatPath(segments, plain) };
}

/** Paths that formatPath leaves unchanged. */
const plainPath = /^[\w\-.~!'()*:@/]*$/;

/** Everything after the first `?`, empty without one. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? '' : target.slice(mark + 1);
}

/** The path of origin-form and absolute-form targets (RFC 9112 section 3.2). */
function pathOf(target: string): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (path.charCodeAt(0) === 0x2f) return path;
  const authority = /^https?:\/\/[^/]*/i.exec(path);
  return authority === null ? '' : path.slice(authority[0].length) || '/';
}

function decodeSegment(segment: string): string | undefined {
  // Node decodes octets above ASCII as Latin-1; RFC 3986 requires them to be percent-encoded.
  if (/[^\x21-\x7e]/.test(segment)) return undefined;
  try {
    const decoded = decodeURIComponent(segment);
    return /\p{Cc}/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

/** The normal spelling of decoded segments. `plain`: it leaves them as they are. */
export function formatPath(segments: readonly string[], plain = false): string {
  if (plain) return `/${segments.join('/')}`;
  return `/${segments.map((segment) => encodeURIComponent(segment).replaceAll('%3A', ':').replaceAll('%40', '@')).join('/')}`;
}
