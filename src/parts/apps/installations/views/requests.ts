import type { InstallationRequest } from '#parts/apps/installations/requests.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

/** Requests that the visitor can answer, and their own. */
export function requestCards(visit: SignedIn, at: string, requests: InstallationRequest[]): Html[] {
  return requests.map(({ id, app_slug, account, requester }) => {
    const end = (word: string) => form(visit, `${at}/${id}/delete`, html`<button>${word}</button>`, { class: 'inline' })
    const name = html`<a href="/apps/${app_slug}"><strong>${app_slug}</strong></a>`
    return requester.id === visit.visitor.id
      ? html`<section class="card">You asked the owners of ${account.login} to install ${name}. ${end('Withdraw')}</section>`
      : html`<section class="card">${requester.login} asks you to install ${name} on ${account.login}.
<a class="button" href="/apps/${app_slug}/installations/new?account=${account.login}">Install</a> ${end('Decline')}</section>`
  })
}
