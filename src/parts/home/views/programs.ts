import { copyLine } from '#web/components/copy.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

/** The addresses that programs need. */
export function programs({ belfry: { addresses } }: Visit, heading: 'section' | 'aside' = 'section'): Html {
  const { web, versioned } = addresses
  const lines = html`<p class="muted small">Clients of the public interface work with these base addresses.</p>
<p class="address">Self-hosted variant ${copyLine(`${web}/api/v3`, 'Base address of the self-hosted variant')}</p>
${versioned && html`<p class="address">Versioned variant ${copyLine(versioned, 'Base address of the versioned variant')}</p>`}
<p><a href="/docs">API reference</a> · <a href="/api/v3/openapi.json">OpenAPI 3.1</a></p>
<p class="muted">For operators: <a href="/healthz">health</a>, <a href="/readyz">readiness</a>, <a href="/metrics">metrics</a></p>`
  return heading === 'aside'
    ? html`<section class="programs"><h2>For programs</h2>${lines}</section>`
    : html`<section class="programs card"><h2>For programs</h2>${lines}</section>`
}
