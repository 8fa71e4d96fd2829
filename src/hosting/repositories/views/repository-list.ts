import type { Repository } from '#hosting/repositories/repositories.ts'
import { languageDot } from '#hosting/statistics/views/language.ts'
import { avatar } from '#web/components/avatar.ts'
import { shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { pathOf } from './repository-page.ts'

interface Row {
  repo: Repository
  /** A button at the end of the row, as Unstar. */
  action?: Html | undefined
  /** Shown instead of the time of the last push. */
  when?: Html
}

interface ListOptions {
  header?: Html
  label?: string
  /** Without the owner, on a page about that owner. */
  owned?: boolean
}

/** Repositories in a frame, one for each row. */
export function repositoryList(rows: Row[], { header, label = 'Repositories', owned = false }: ListOptions = {}): Html {
  return box(
    rows.map((row) => repositoryRow(row, owned)),
    { header, label, kind: 'repository-list' },
  )
}

const mostTopics = 8

function repositoryRow({ repo, action, when }: Row, owned: boolean): Html {
  const { description, topics, language, stargazers_count, forks_count, license, pushed_at, created_at } = repo
  const path = pathOf(repo)
  const badges = html`${badge(repo.private ? 'Private' : 'Public')}${repo.archived && badge('Archived', 'attention')}${repo.is_template && badge('Template')}${repo.parent_id !== null && badge('Fork')}`
  const name = owned
    ? html`<a href="${path}"><strong>${repo.name}</strong></a>`
    : html`${avatar({ id: repo.owner_id, type: repo.owner_type }, 20)} <span><a href="/${repo.owner_login}">${repo.owner_login}</a> / <a href="${path}"><strong>${repo.name}</strong></a></span>`
  const shown = topics
    .slice(0, mostTopics)
    .map(
      (topic) =>
        html`<a class="topic" href="/search?${new URLSearchParams({ q: `topic:${topic}`, type: 'repositories' }).toString()}">${topic}</a>`,
    )
  return html`<div class="repository-row"><div><div class="repository-name">${name} ${badges}</div>
${description && html`<p class="repository-description" dir="auto">${description}</p>`}${shown.length > 0 && html`<p class="topics">${shown}</p>`}
<p class="muted repository-facts">${language && languageDot(language)}${stargazers_count > 0 && html`<a href="${path}/stargazers" title="${stargazers_count} stars">${icon('star', { label: 'Stars' })} ${shortCount(stargazers_count)}</a>`}${
    forks_count > 0 &&
    html`<a href="${path}/forks" title="${forks_count} forks">${icon('repo-forked', { label: 'Forks' })} ${shortCount(forks_count)}</a>`
  }${license && license !== 'other' && html`<span>${icon('law', { label: 'License' })} ${license.toUpperCase()}</span>`}<span>${when ?? (pushed_at ? html`Updated ${moment(pushed_at)}` : html`Created ${moment(created_at)}`)}</span></p></div>${action}</div>`
}
