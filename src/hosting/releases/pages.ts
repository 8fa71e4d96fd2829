import { nameOf } from '#hosting/issues/views/conversation.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { crumbs, loadVisibleRepository } from '#hosting/repositories/views/repository-page.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { moment } from '#web/settings.ts'
import { loadReleaseByTag } from './releases.ts'

/** A tag may contain slashes. */
export const pages: PageRoute[] = [show('/:owner/:repo/releases/tag/*', releasePage)]

async function releasePage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const tag = visit.params['*'] ?? ''
  if (tag.includes('\0')) throw missing()
  const release = await loadReleaseByTag(visit.db, repo, tag)
  await markShown(visit, sql`s.release_id = ${release.id}`)
  const [text = html``] = await renderTexts(visit, repo, [release.body])
  const { author_id: id, author_login: login, author_type: type, author_site_admin: site_admin } = release
  const title = release.name || release.tag_name
  const body = html`<main class="conversation">${crumbs(repo)}<h1>${title}</h1>
<p class="muted">${nameOf({ id, login, type, site_admin })} released <code>${release.tag_name}</code> ${moment(release.published_at ?? release.created_at)}
${release.prerelease && html`<span class="badge">pre-release</span>`}</p><div class="markdown">${text}</div></main>`
  return { title: `${title} · Release · ${repo.owner_login}/${repo.name}`, body, assets: ['conversations.css'] }
}
