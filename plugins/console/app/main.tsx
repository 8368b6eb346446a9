// The console: takes its session from the page, loads the description of the API, and draws what the address names.
import { render, type ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { OpenApiDocument } from '../../../core/http/description/document.ts';
import { startRouter } from './address/router.ts';
import { standing, startSession } from './api/session.ts';
import { Catalog } from './description/catalog.ts';
import { useLoaded } from './parts/loaded.ts';
import { Problem } from './parts/problem.tsx';
import { claimed, Claimed } from './shell/claim.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInAgain } from './shell/sign-in-again.tsx';
import './style/console.css';
import './style/parts.css';
import './style/authorities.css';
import './style/operations.css';
import { Page } from './views/page.tsx';

function Application(): ComponentChildren {
  const loaded = useLoaded({ method: 'GET', path: '/v1/openapi.json' }).value;
  const kept = useRef<Catalog | undefined>(undefined);
  // Kept over a new sign-in: what was typed on a page must not go with the description.
  if (loaded.state === 'there' && kept.current === undefined) kept.current = new Catalog(loaded.answer.body as OpenApiDocument);
  const catalog = kept.current;
  if (claimed.value !== undefined) return <Claimed token={claimed.value} />;
  if (catalog === undefined && loaded.state === 'failed') return <Problem error={loaded.error} />;
  if (catalog === undefined) return <p role="status">Loading …</p>;
  return (
    <Shell catalog={catalog}>
      <Page catalog={catalog} />
    </Shell>
  );
}

/** Waits until it is known whether there is a session; afterwards the page stays, whatever becomes of it. */
function Root(): ComponentChildren {
  // After a sign-out nothing is left of what was there, even where the next page does not come.
  if (standing.value === 'waiting' || standing.value === 'signed-out') return null;
  if (standing.value === 'none' && !wasOpen) return <SignInAgain />;
  wasOpen = true;
  return <Application />;
}

let wasOpen = false;

startSession();
startRouter();
const place = document.getElementById('app');
if (place !== null) render(<Root />, place);
