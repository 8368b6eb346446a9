// No name or description can inject markup into a page (R27, R29, R56).
import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { createHash } from 'node:crypto';
import { html } from '../../../core/http/pages/html.ts';
import { failurePage } from '../../../plugins/oidc/pages/failure.ts';
import { providersPage, tenantPage } from '../../../plugins/oidc/pages/login.ts';
import { styleSheet } from '../../../core/http/pages/style.ts';

test('values are escaped for elements and attributes, markup is not', () => {
  const inner = html`<b>${'<i>'}</b>`;
  expect(html`<a title="${`"'&<>\``}">${inner}${undefined}${false}${[inner, inner]}${3}</a>`.markup).toBe(
    '<a title="&quot;&#39;&amp;&lt;&gt;&#96;"><b>&lt;i&gt;</b><b>&lt;i&gt;</b><b>&lt;i&gt;</b>3</a>',
  );
});

test('no text becomes markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      expect(html`<p title="${text}">${text}</p>`.markup.replace(/^<p title="|">|<\/p>$/g, '')).not.toMatch(/[<>"']/);
    }),
  );
});

const at = Temporal.Instant.from('2026-11-21T14:05:00Z');
const row = { status: 403, headline: 'x', detail: 'y' } as const;
const failure = { row, at, reference: 'r', retryPath: '/login', publicUrl: 'https://keys.test' };

const attack = '"><script>alert(1)</script><img src=x onerror=alert(1)>';

test.each([
  ['a display name', String(providersPage('en', 'acme', [{ service: 'x', displayName: attack }]).body)],
  ['a tenant name', String(providersPage('en', attack, [{ service: attack, displayName: 'x' }]).body)],
  ['the tenant of the last sign-in', String(tenantPage('en', attack, 'https://keys.test').body)],
  [
    'what a failed sign-in shows',
    String(
      failurePage({
        ...failure,
        row: { status: 403, headline: attack, detail: attack, way: 'other-account' },
        reference: attack,
        ...{ account: attack, tenant: attack, provider: attack, otherAccountPath: `/${attack}`, providerSignOut: `https://${attack}` },
      }).body,
    ),
  ],
])('%s does not become markup', (_, page) => {
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('<img src=x');
});

describe('R29: every page', () => {
  const { headers, body } = failurePage(failure);

  test('has a policy that allows nothing but its own style, and no frame', () => {
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toMatch(/unsafe|script-src|\*/);
    expect(policy).toContain(createHash('sha256').update(styleSheet).digest('base64'));
    expect(String(body)).toContain(`<style>${styleSheet}</style>`);
  });

  test('sends no referrer, and older browsers show it in no frame', () => {
    expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' });
  });

  test('has no script, a language, a title and a viewport', () => {
    expect(String(body)).not.toMatch(/<script|javascript:|\son\w+=/i);
    expect(String(body)).toMatch(/<html lang="en">[\s\S]*<meta name="viewport"[\s\S]*<title>x · keystored<\/title>/);
  });
});
