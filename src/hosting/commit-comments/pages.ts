import { compare } from '#git/compare.ts'
import { readCommit, resolveCommit } from '#git/objects.ts'
import { post } from '#hosting/issues/views/conversation.ts'
import { renderTexts } from '#hosting/mentions/views/render-texts.ts'
import { diffView } from '#hosting/pulls/views/diff.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { listCommitComments } from './commit-comments.ts'

export const pages: PageRoute[] = [show('/:owner/:repo/commit/:sha', commitPage)]

/** A commit's message, changes and comments. */
async function commitPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { storage } = visit.belfry
  const name = visit.params.sha ?? ''
  const sha = /^[0-9a-f]{7,40}$/i.test(name) ? await resolveCommit(storage, repo.id, name) : undefined
  if (!sha) throw missing()
  await markShown(visit, sql`s.repo_id = ${repo.id} and s.commit_id = ${sha}`)
  const { message, author, parents } = await readCommit(storage, repo.id, sha)
  const [title = '', ...rest] = message.trim().split('\n')
  const sides = (parent: string) => ({
    base: { repository: pathOf(repo), sha: parent },
    head: { repository: pathOf(repo), sha },
  })
  const files = parents[0]
    ? diffView(visit, await compare(storage, repo.id, parents[0], sha), sides(parents[0]))
    : html`<p class="muted">The first commit.</p>`
  const body = html`<main class="conversation"><h1>${title || 'No message'}</h1>
<p class="muted">${author.name} ${moment(author.date)} · <code>${sha}</code></p>${rest.length > 0 && html`<pre tabindex="0">${rest.join('\n').trim()}</pre>`}
${parents.map((parent) => html`<p class="muted">Parent <a href="${pathOf(repo)}/commit/${parent}"><code>${parent.slice(0, 7)}</code></a></p>`)}
${files}${await showComments(visit, repo, sha)}</main>`
  return {
    title: `${title} · ${sha.slice(0, 7)} · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'code'),
  }
}

const most = 100

async function showComments(visit: Visit, repo: Repository, sha: string) {
  const { rows, total } = await listCommitComments(visit.db, repo, { limit: most, offset: 0 }, sha)
  const newest = total > most ? (await listCommitComments(visit.db, repo, { limit: most, offset: total - most }, sha)).rows : rows
  const texts = await renderTexts(
    visit,
    repo,
    newest.map(({ body }) => body),
  )
  const posts = newest.map((comment, index) => {
    const about =
      comment.path !== null &&
      html`<p class="muted"><code>${comment.path}${comment.line !== null && `:${comment.line}`}</code></p>`
    return post({ ...comment, id: `commitcomment-${comment.id}` }, html`${about}${texts[index]}`)
  })
  return html`<h2>Comments</h2>${total > most && html`<p class="muted">The newest ${most} of ${total}.</p>`}${posts.length ? posts : html`<p class="muted">None.</p>`}`
}
