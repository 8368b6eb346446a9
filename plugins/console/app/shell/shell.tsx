// Frame of every page: skip link, the signed-in person, the navigation, and the page itself.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, hrefOf } from '../address/router.ts';
import { standing } from '../api/session.ts';
import type { Catalog } from '../description/catalog.ts';
import { AccountBar } from './account.tsx';
import { Claim } from './claim.tsx';
import { Navigation } from './navigation.tsx';
import { Needs } from './needs.tsx';
import { Search } from './search.tsx';
import { SignInAgain } from './sign-in-again.tsx';
import { VisitBand } from './visit-band.tsx';

export function Shell({ catalog, children }: { readonly catalog: Catalog; readonly children: ComponentChildren }): ComponentChildren {
  const isOpen = useSignal(false);
  const { path } = address.value;
  useEffect(() => {
    isOpen.value = false;
  }, [path]);
  // The person whose session has ended may be gone, and somebody else may be looking now.
  const isCovered = standing.value !== 'signed-in';
  return (
    <>
      <div hidden={isCovered}>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        <VisitBand />
        <header class="bar">
          <a class="brand" href={hrefOf('')}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path
                fill="currentColor"
                fill-rule="evenodd"
                d="M12 1.5 3.5 5v6.2c0 5.2 3.6 9.4 8.5 11.3 4.9-1.9 8.5-6.1 8.5-11.3V5zM12 7.7a2.6 2.6 0 0 1 1.2 4.9v3.9h-2.4v-3.9a2.6 2.6 0 0 1 1.2-4.9z"
              />
            </svg>
            keystored
          </a>
          <button
            type="button"
            class="menu"
            aria-expanded={isOpen.value}
            aria-controls="navigation"
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            Menu
          </button>
          <Search catalog={catalog} />
          <Needs catalog={catalog} />
          <AccountBar />
        </header>
        <div class="frame">
          <Navigation catalog={catalog} path={path} isOpen={isOpen.value} />
          <main id="main" tabIndex={-1}>
            <Claim catalog={catalog} />
            {children}
          </main>
        </div>
      </div>
      {standing.value === 'none' && <SignInAgain />}
    </>
  );
}
