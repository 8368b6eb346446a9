// OCSP responders of CAs elsewhere: asked about a certificate when it logs in, and again while its tokens live. Answers are kept in this process, and count
// until their end, so that a responder may be away for as long.
import type { Clock } from '../../core/base/context.ts';
import type { Destinations } from '../../core/outbound/destinations.ts';
import type { RevocationQuestion } from '../../core/plugin/services/revocation-question.ts';
import { type Failed, fetchOctets, safely } from './fetching.ts';
import type { RoleRecord } from './role-record.ts';

/** Age from which an answer is asked for again, although it is current. */
const againSeconds = 300;
/** Pause after a question that nobody answered, and after a responder that could not be called or has a fault, for questions about any certificate of the issuer. */
const pauseSeconds = 60;
const awaySeconds = 10;
const mostKept = 4_096;
const mostOctets = 1 << 16;

type Kept = { readonly atMs: number; readonly answer?: Uint8Array; readonly problem?: string };

export type AskedOf = Pick<RoleRecord, 'ocspUrls' | 'ocspFromCertificate'>;

/** Tells whether a role has responders asked. */
export function asks({ ocspUrls, ocspFromCertificate }: AskedOf): boolean {
  return ocspUrls !== undefined || ocspFromCertificate === true;
}

export class Responders {
  readonly #clock: Clock;
  readonly #destinations: Destinations;
  readonly #kept = new Map<string, Kept>();
  readonly #running = new Map<string, Promise<void>>();
  /** tenant, issuer and URL (awayOf) to the monotonic time until which it is not called, and why */
  readonly #away = new Map<string, { readonly untilMs: number; readonly problem: string }>();

  constructor(clock: Clock, destinations: Destinations) {
    this.#clock = clock;
    this.#destinations = destinations;
  }

  /** Asks what is not known, or was asked some time ago; callers at the same time share one question. Returns the answers (DER) that are there. */
  async ask(tenantId: string, role: AskedOf, questions: readonly RevocationQuestion[]): Promise<readonly Uint8Array[]> {
    if (!asks(role)) return [];
    const due = questions.filter((question) => this.#isDue(this.#kept.get(nameOf(tenantId, role, question))));
    await Promise.all(
      due.map((question) => {
        const name = nameOf(tenantId, role, question);
        const running =
          this.#running.get(name) ?? this.#attempt(name, [tenantId, role], question).finally(() => this.#running.delete(name));
        this.#running.set(name, running);
        return running;
      }),
    );
    return questions.flatMap((question) => this.#kept.get(nameOf(tenantId, role, question))?.answer ?? []);
  }

  /** Reasons for which questions have no new answer, as sentences. */
  problems(tenantId: string, role: AskedOf, questions: readonly RevocationQuestion[]): readonly string[] {
    return [...new Set(questions.flatMap((question) => this.#kept.get(nameOf(tenantId, role, question))?.problem ?? []))];
  }

  #isDue(kept: Kept | undefined): boolean {
    if (kept === undefined) return true;
    const ageSeconds = (this.#clock.monotonicMs() - kept.atMs) / 1_000;
    return ageSeconds >= (kept.problem === undefined ? againSeconds : pauseSeconds);
  }

  /** The first responder that gives a usable answer counts; without one the last answer stays. */
  async #attempt(name: string, [tenantId, role]: readonly [string, AskedOf], question: RevocationQuestion): Promise<void> {
    const urls = urlsOf(role, question);
    const problems: string[] = urls.length === 0 ? ['The certificate names no OCSP responder.'] : [];
    for (const url of urls) {
      const outcome = await this.#call(tenantId, url, question);
      if ('answer' in outcome) return this.#keep(name, outcome);
      problems.push(`The OCSP responder ${url} gave no answer: ${outcome.problem}.`);
    }
    const answer = this.#kept.get(name)?.answer;
    this.#keep(name, { problem: problems.join(' '), ...(answer === undefined ? {} : { answer }) });
  }

  async #call(
    tenantId: string,
    url: string,
    question: RevocationQuestion,
  ): Promise<{ readonly answer: Uint8Array } | { readonly problem: string }> {
    const name = awayOf(tenantId, url, question);
    const away = this.#away.get(name);
    if (away !== undefined && this.#clock.monotonicMs() < away.untilMs) return away;
    this.#away.delete(name);
    const asked = question.ask();
    const body = { type: 'application/ocsp-request', octets: asked.request };
    const outcome = await safely('the answer is not DER', async () => ({
      answer: await fetchOctets(this.#destinations, new URL(url), { accept: 'application/ocsp-response', maxBytes: mostOctets, body }),
    }));
    // It has answered, and has nothing for this certificate; it may have for the next.
    if (!('answer' in outcome) && isOfQuestion(outcome)) return outcome;
    if (!('answer' in outcome)) {
      this.#away.set(name, { untilMs: this.#clock.monotonicMs() + awaySeconds * 1_000, problem: outcome.problem });
      if (this.#away.size > mostKept) this.#away.clear();
      return outcome;
    }
    const problem = asked.findProblem(outcome.answer);
    return problem === undefined ? outcome : { problem };
  }

  #keep(name: string, known: Omit<Kept, 'atMs'>): void {
    this.#kept.delete(name);
    this.#kept.set(name, { ...known, atMs: this.#clock.monotonicMs() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Tells whether an answer is about the question: a client error, but for those that mean "later". */
function isOfQuestion({ status = 0 }: Failed): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function urlsOf({ ocspUrls = [], ocspFromCertificate }: AskedOf, { urls }: RevocationQuestion): readonly string[] {
  return [...ocspUrls, ...(ocspFromCertificate === true ? urls : [])].slice(0, mostUrls);
}

/** Responders that are asked for one certificate, one after another. */
const mostUrls = 5;

/** Tenants, and roles with other responders, have answers of their own: who chooses a URL of one role must not keep another one waiting. */
function nameOf(tenantId: string, { ocspUrls = [], ocspFromCertificate }: AskedOf, { id }: RevocationQuestion): string {
  return JSON.stringify([tenantId, ocspUrls, ocspFromCertificate === true, id]);
}

/** A responder that has nothing for certificates of one CA may have answers for those of another one. */
function awayOf(tenantId: string, url: string, { issuer }: RevocationQuestion): string {
  return JSON.stringify([tenantId, issuer, url]);
}
