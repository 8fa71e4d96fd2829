import type { Account } from '#identity/accounts.ts'
import type { Entry } from '#parts/feeds/entries.ts'
import type { Feed } from '#parts/feeds/feeds.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome } from '#web/page.ts'

export function activityPage({ account, path }: Feed, entries: Entry[], settings: Html | undefined): Outcome {
  const heading = account
    ? html`<h1 class="who"><img src="/avatars/${account.id}" alt="" width="48" height="48"> ${account.name || account.login}</h1>${profile(account)}${settings}`
    : html`<h1>What happens in public</h1>`
  const list = entries.length
    ? html`<ol class="activity">${entries.map(showEntry)}</ol>`
    : html`<p class="muted">Nothing lately.</p>`
  const body = html`<main>${heading}${account && html`<h2>Public activity</h2>`}${list}<p><a href="${path}.atom">As a feed</a></p></main>`
  return { title: account ? account.login : 'Timeline', body, feed: `${path}.atom` }
}

function profile({ login, type, bio, company, location, blog, created_at }: Account): Html {
  const facts = [
    html`<strong>${login}</strong>`,
    type === 'Organization' && 'an organization',
    company,
    location,
    blog && site(blog),
  ]
  const shown = facts.filter((fact) => fact).map((fact, index) => html`${index > 0 && ' · '}${fact}`)
  return html`${bio && html`<p>${bio}</p>`}<p class="muted">${shown} · since ${created_at.toISOString().slice(0, 10)}</p>`
}

/** Only http and https URLs become links: others could run a script here. */
function site(blog: string): Html {
  return /^https?:\/\//i.test(blog) ? html`<a href="${blog}" rel="nofollow noreferrer">${blog}</a>` : html`${blog}`
}

const showEntry = ({ actor, content, created_at }: Entry) =>
  html`<li><img src="/avatars/${actor.id}" alt="" width="30" height="30"><div>${content}<p class="muted">${moment(created_at)}</p></div></li>`
