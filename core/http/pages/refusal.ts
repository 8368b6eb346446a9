// Page of a refusal: its meaning, its remedy, its time and its reference.
import type { ServiceError } from '../../base/errors.ts';
import type { Answer } from '../response/answer.ts';
import { html, type Html } from './html.ts';
import { problemHeaders } from '../response/problem.ts';
import { formatMoment, formatPage, pageHeaders, pageMediaType, type Page } from './frame.ts';

export type RefusalView = {
  readonly headline: string;
  readonly advice: string;
  /** more about it, below the advice */
  readonly more?: Html | undefined;
  /** details of the attempt, by name */
  readonly facts?: readonly (readonly [name: string, value: string | undefined])[];
  readonly at: Temporal.Instant;
  readonly reference: string;
  /** links to continue with */
  readonly ways: Html;
  /** true if the log has the reason under the reference */
  readonly isLogged: boolean;
};

/** The content of such a page. */
export function refusalContent({ headline, advice, more, facts = [], at, reference, ways, isLogged }: RefusalView): Page {
  const known = [...facts, ['Time', formatMoment(at)] as const].filter(([, value]) => value !== undefined);
  return {
    title: headline,
    main: html`<h1>${headline}</h1>
      <p>${advice}</p>
      ${more}
      <dl>
        ${known.map(
          ([name, value]) =>
            html`<dt>${name}</dt>
              <dd>${value}</dd>`,
        )}
        <dt class="wide">Reference</dt>
        <dd class="wide"><code>${reference}</code></dd>
      </dl>
      ${ways}`,
    ...(isLogged ? { footer: html`Give the reference to your administrator: the log has the reason under it.` } : {}),
  };
}

/** The page of a refusal without a page of its own, with `more` below the advice; status and headers are those of the problem document. */
export function refusalPage(error: ServiceError, requestId: string, at: Temporal.Instant, more?: Html): Answer {
  const { headline, advice, way = 'Start again' } = rowOf(error);
  const page = refusalContent({
    headline,
    advice,
    more,
    at,
    reference: requestId,
    ways: html`<a class="button primary" href="/">${way}</a>`,
    isLogged: error.status === 500,
  });
  return {
    status: error.status,
    mediaType: pageMediaType,
    body: formatPage(page),
    headers: { ...pageHeaders, ...problemHeaders(error) },
  };
}

type Row = { readonly headline: string; readonly advice: string; readonly way?: string };

function rowOf({ code, status, title }: ServiceError): Row {
  const fallback = status >= 500 ? rows['internal-error'] : undefined;
  return rows[code] ?? fallback ?? { headline: title, advice: 'The address or the form is not right.' };
}

const rows: Readonly<Record<string, Row>> = {
  'not-found': {
    headline: 'There is nothing at this address',
    advice: 'Check the address, or begin at the start page.',
    way: 'Go to the start page',
  },
  'method-not-allowed': {
    headline: 'This address is not a page',
    advice: 'It only takes what a form of another page sends.',
    way: 'Go to the start page',
  },
  sealed: {
    headline: 'This system is locked',
    advice: 'It keeps all keys closed until an administrator unlocks it. Try again later.',
    way: 'Try again',
  },
  'rate-limited': { headline: 'Too many attempts', advice: 'Wait a minute, then try again.' },
  'audit-unavailable': {
    headline: 'Nobody can sign in at the moment',
    advice: 'This system cannot keep a record of what is done, so it does nothing. Tell your administrator.',
    way: 'Try again',
  },
  'internal-error': { headline: 'Something went wrong here', advice: 'The fault is ours. Try again in a moment.' },
  'payload-too-large': { headline: 'Too much was sent', advice: 'Go back and try again.' },
};
