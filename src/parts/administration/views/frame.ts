import { icon } from '#web/components/icon.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, SignedIn } from '#web/page.ts'

const sections = [
  ['/site-admin', 'Overview', 'pulse'],
  ['/site-admin/users', 'People', 'people'],
  ['/site-admin/organizations', 'Organizations', 'organization'],
  ['/site-admin/repositories', 'Repositories', 'repo'],
  ['/site-admin/jobs', 'Jobs', 'stack'],
  ['/site-admin/requests', 'Errors and slow requests', 'alert'],
  ['/site-admin/audit', 'Audit log', 'log'],
  ['/site-admin/settings', 'Settings in force', 'sliders'],
] as const

export type Section = (typeof sections)[number][0]

/** A page of the site administration, with the list of them. */
export function adminPage(visit: SignedIn, current: Section, title: string, body: Html, status = 200): Outcome {
  const links = sections.map(
    ([address, text, name]) =>
      html`<a class="side-link" href="${address}"${address === current && html` aria-current="page"`}>${icon(name)} ${text}</a>`,
  )
  return {
    title: `${title} · Administration`,
    status,
    body: html`<div class="settings administration"><nav aria-label="Administration">${links}</nav><main>${banner(visit.flash.done)}<h1>${title}</h1>${body}</main></div>`,
  }
}
