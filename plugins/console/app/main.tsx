// The console: takes its session from the page, loads the description of the API, and draws what the address names.
import { render, type ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { OpenApiDocument } from '../../../core/http/description/document.ts';
import { address, startRouter } from './address/router.ts';
import type { Request } from './api/request.ts';
import { standing, startSession } from './api/session.ts';
import { visit } from './api/visit.ts';
import { Catalog } from './description/catalog.ts';
import { useLoaded } from './parts/loaded.ts';
import { Loading } from './parts/loading.tsx';
import { Problem } from './parts/problem.tsx';
import { claimed, Claimed } from './shell/claim.tsx';
import { OpenHandOver, openPath, takeToken } from './shell/open-hand-over.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInAgain } from './shell/sign-in-again.tsx';
import './style/console.css';
import './style/parts.css';
import './style/shell.css';
import './style/authorities.css';
import './style/operations.css';
import './style/devices.css';
import { Page } from './views/page.tsx';

const description = { method: 'GET', path: '/v1/openapi.json', isKept: true } as const;

/** The frame and the overview need no more than the outline of the description, which is a seventh of it; other pages wait for the whole. */
function Application(): ComponentChildren {
  const isOverview = address.value.path === '';
  const outline = useCatalog({ ...description, query: { outline: 'true' } });
  const whole = useCatalog(isOverview ? undefined : description);
  const known = whole.catalog ?? outline.catalog;
  const shown = isOverview ? known : whole.catalog;
  const error = outline.error ?? whole.error;
  if (claimed.value !== undefined) return <Claimed token={claimed.value} />;
  if (known === undefined) return error === undefined ? <p role="status">Loading …</p> : <Problem error={error} />;
  return (
    <Shell catalog={known}>
      {shown !== undefined ? <Page catalog={shown} /> : whole.error === undefined ? <Loading /> : <Problem error={whole.error} />}
    </Shell>
  );
}

/** Kept over a new sign-in: what was typed on a page must not go with the description. */
function useCatalog(request: Request | undefined): { readonly catalog: Catalog | undefined; readonly error: unknown } {
  const loaded = useLoaded(request).value;
  const kept = useRef<Catalog | undefined>(undefined);
  if (request !== undefined && loaded.state === 'there' && kept.current === undefined)
    kept.current = new Catalog(loaded.answer.body as OpenApiDocument);
  return { catalog: kept.current, error: loaded.state === 'failed' ? loaded.error : undefined };
}

/** Waits until it is known whether there is a session; afterwards the page stays, whatever becomes of it. */
function Root(): ComponentChildren {
  // After a sign-out nothing is left of what was there, even where the next page does not come.
  if (standing.value === 'waiting' || standing.value === 'signed-out') return null;
  if (standing.value === 'none' && !wasOpen) return <SignInAgain />;
  wasOpen = true;
  // Nothing that was asked in the own session stays over an open tenant.
  return <Application key={visit.value?.accessor ?? 'own'} />;
}

let wasOpen = false;

/** A link that opens once is for people without an account here. */
const isForAnybody = location.pathname === openPath;
if (!isForAnybody) startSession();
startRouter();
const place = document.getElementById('app');
if (place !== null) render(isForAnybody ? <OpenHandOver token={takeToken()} /> : <Root />, place);
