// The answer of `health`: the state of each part, with the reason when it has a problem; and alarms when that changes.
import type { HealthPart, Log } from '../../core/base/context.ts';
import { defined } from '../../core/base/defined.ts';
import type { Health } from '../../core/platform/system/health-endpoint.ts';
import { describeFault } from '../../core/http/response/problem.ts';

const tokenPrefix = 'token ';

/** `ok`: all is well. `degraded` (200): requests are served, and a person should act. `down` (503): some requests cannot be served. */
export function formatHealth(parts: readonly HealthPart[]): Health {
  const hindered = parts.some(({ hinders }) => hinders === true);
  const status = hindered ? 'down' : parts.some(({ reason }) => reason !== undefined) ? 'degraded' : 'ok';
  const isToken = ({ name }: HealthPart): boolean => name.startsWith(tokenPrefix);
  return {
    healthy: !hindered,
    report: {
      status,
      hsm: { tokens: parts.filter(isToken).map(({ name, ...part }) => ({ name: name.slice(tokenPrefix.length), ...shown(part) })) },
      ...Object.fromEntries(parts.filter((part) => !isToken(part)).map(({ name, ...part }) => [name, shown(part)])),
    },
  };
}

/** The public fields of a part. */
function shown({ state, reason }: Omit<HealthPart, 'name'>): object {
  return { state, ...defined({ reason }) };
}

/** Interval of the check for alarms. */
const lookEveryMs = 2_000;

/**
 * Looks at the parts every two seconds. Writes one warning to system:logs when a part gets a problem, and a line when it is well again.
 * Returns a function that ends the watch.
 */
export function watchHealth(examine: () => readonly HealthPart[] | Promise<readonly HealthPart[]>, log: Log): () => void {
  let before = new Map<string, string>();
  let hasEnded = false;
  const look = async (): Promise<void> => {
    if (hasEnded) return;
    const now = problemsOf(await examine());
    // A stop closes parts one after another, while a look is under way.
    if (hasEnded) return;
    for (const [part, reason] of now) {
      if (withoutTimes(before.get(part)) !== withoutTimes(reason)) log.warn(`alarm: ${part}: ${reason}`, { part });
    }
    for (const part of before.keys()) if (!now.has(part)) log.info(`well again: ${part}`, { part });
    before = now;
  };
  // A store that cannot be read now may be readable later.
  const lookSafely = (): Promise<void> =>
    look().catch((error: unknown) => log.warn('the state of the appliance could not be checked', describeFault(error)));
  let looking = lookSafely();
  const timer = setInterval(() => {
    looking = looking.then(lookSafely);
  }, lookEveryMs).unref();
  return () => {
    hasEnded = true;
    clearInterval(timer);
  };
}

/** Times in a reason would make every check a new alarm. */
function withoutTimes(reason: string | undefined): string | undefined {
  return reason?.replace(/\d{4}-\S+Z/g, '');
}

/** Reason by part. */
function problemsOf(parts: readonly HealthPart[]): Map<string, string> {
  return new Map(parts.flatMap(({ name, reason }) => (reason === undefined ? [] : [[name, reason]])));
}
