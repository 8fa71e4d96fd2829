import { issueRow } from '#hosting/issues/views/issue-row.ts'
import { listPeople } from '#hosting/people/views/people-list.ts'
import { repositoryList } from '#hosting/repositories/views/repository-list.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { FoundCommits, FoundFiles } from '#hosting/search/contents.ts'
import type { Found } from '#hosting/search/site-search.ts'
import { encodePath } from '#http/serialization.ts'
import type { Account } from '#identity/accounts.ts'
import { copyButton } from '#web/components/copy.ts'
import { icon } from '#web/components/icon.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { marked } from './marked.ts'

export async function resultList(visit: Visit, found: Found): Promise<Html> {
  switch (found.type) {
    case 'repositories':
      return repositoryList(found.results.rows.map((repo) => ({ repo })))
    case 'issues':
    case 'pulls':
      return box(
        found.results.rows.map(({ issue, repo }) => issueRow(issue, repo, { named: true })),
        {
          label: found.type === 'issues' ? 'Issues' : 'Pull requests',
        },
      )
    case 'users':
      return listPeople(visit, found.results.rows, aboutPerson)
    case 'commits':
      return commitList(found.results)
    case 'code':
      return fileList(found.results)
  }
}

/** When an account was made, and where the person lives. */
export const aboutPerson = ({ location, created_at }: Account) =>
  html`${location && html`${icon('location')} ${location} · `}Joined ${moment(created_at)}`

function commitList({ rows, repo, terms }: FoundCommits): Html {
  const items = rows.map(({ sha, message, author }) => {
    const [title = ''] = message.trimStart().split('\n', 1)
    const href = `${pathOf(repo)}/commit/${sha}`
    return html`<div class="commit-result"><div><p><a class="issue-title" href="${href}"><bdi>${marked(title, terms)}</bdi></a></p><p class="muted">${author.name} committed ${moment(author.date)}</p></div><span class="buttons"><a class="sha" href="${href}"><code>${sha.slice(0, 7)}</code></a>${copyButton(sha, 'Copy the full SHA')}</span></div>`
  })
  return box(items, { label: 'Commits', header: repositoryName(repo) })
}

function fileList({ rows, repo, head, terms }: FoundFiles): Html {
  const items = rows.map(({ path, lines }) => {
    const href = `${pathOf(repo)}/blob/${head}/${encodePath(path)}`
    const text = lines && html`<pre tabindex="0" aria-label="Lines of ${path}">${marked(lines.slice(0, 2000), terms)}</pre>`
    return html`<div class="file-result"><p>${icon('file')} <a href="${href}"><bdi>${path}</bdi></a></p>${text}</div>`
  })
  return box(items, { label: 'Files', header: repositoryName(repo) })
}

const repositoryName = (repo: FoundFiles['repo']) =>
  html`<span>${icon('repo')} <a href="${pathOf(repo)}"><strong>${pathOf(repo).slice(1)}</strong></a> on <code>${repo.default_branch}</code></span>`
