import { type Html, html } from './html.ts'
import type { Outcome } from './page.ts'

const places: [path: string, title: string][] = [
  ['/settings/profile', 'Profile'],
  ['/settings/security', 'Password and two-factor'],
  ['/settings/sessions', 'Sessions'],
  ['/settings/keys', 'SSH keys'],
  ['/settings/applications', 'Authorized applications'],
  ['/settings/tokens', 'Personal tokens'],
  ['/settings/tokens/fine-grained', 'Fine-grained tokens'],
  ['/settings/feeds', 'Feed keys'],
  ['/settings/developers', 'My OAuth applications'],
]

/** A page among the settings, with the way to the others beside it. */
export function settingsPage(place: string, title: string, body: Html, status = 200): Outcome {
  const links = places.map(
    ([path, name]) => html`<a class="side-link" href="${path}"${path === place && html` aria-current="page"`}>${name}</a>`,
  )
  return {
    title,
    status,
    body: html`<div class="settings"><nav aria-label="Settings">${links}</nav><main><h1>${title}</h1>${body}</main></div>`,
  }
}

/** What has just been done. */
export function note(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="note" role="status">${text}</p>`
}

/** A secret that nobody sees again. */
export function shownOnce(label: string, secret: string): Html {
  return html`<section class="note" aria-label="${label}"><p><strong>${label}</strong>: copy this now, it is not shown again.</p>
<pre tabindex="0" class="secret">${secret}</pre></section>`
}

export function moment(at: Date): Html {
  const text = at.toISOString()
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`
}
