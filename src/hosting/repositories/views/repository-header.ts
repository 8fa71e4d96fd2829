import type { Repository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { avatar } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { type Tab, tabs } from '#web/components/tabs.ts'
import { type Html, html } from '#web/html.ts'
import { type Above, form, type Visit } from '#web/page.ts'
import { pathOf } from './repository-page.ts'

export type Section = 'code' | 'issues' | 'pulls' | 'releases' | 'activity' | 'settings'

/** What the header shows that is not in the repository's row. */
interface HeaderFacts {
  starred: boolean
  watching: 'participating' | 'all' | 'ignore' | 'custom'
  /** Counted up to `mostCounted`. */
  open_pulls: number
}

const mostCounted = 1000

async function readFacts(db: Queryable, { visitor }: Visit, repo: Repository): Promise<HeaderFacts> {
  const id = visitor?.id ?? null
  const facts = await db.first<HeaderFacts>(sql`
    select exists (select from stars where user_id = ${id} and repo_id = ${repo.id}) as starred,
      coalesce((select case when ignored then 'ignore' when kinds is not null then 'custom' else 'all' end from subscriptions where user_id = ${id} and repo_id = ${repo.id}),
        'participating') as watching,
      (select count(*) from (select from issues i join pulls p on p.issue_id = i.id where i.repo_id = ${repo.id} and i.state = 'open'
        limit ${mostCounted}) counted)::int as open_pulls`)
  if (!facts) throw new Error('a statement without a condition returned no row')
  return facts
}

/** The repository's name, its star, watch and fork buttons, and its tabs: above every page of a repository. */
export const repositoryHeader =
  (repo: Repository, current?: Section): Above =>
  async (visit) => {
    const facts = await readFacts(visit.db, visit, repo)
    const path = pathOf(repo)
    return html`<div class="repository-header"><div class="title-bar"><nav class="crumbs" aria-label="Breadcrumbs">
${avatar({ id: repo.owner_id, type: repo.owner_type }, 24)} <a href="/${repo.owner_login}">${repo.owner_login}</a> <span class="muted">/</span>
<a href="${path}"><strong>${repo.name}</strong></a> ${badge(repo.private ? 'Private' : 'Public')}${repo.owner_suspended && badge('Suspended', 'danger')}${repo.archived && badge('Archived', 'attention')}${repo.is_template && badge('Template')}</nav>
<div class="buttons">${actions(visit, repo, facts)}</div></div>
${tabs('Repository', sectionTabs(repo, facts, current))}</div>`
  }

function sectionTabs(repo: Repository, { open_pulls }: HeaderFacts, current: Section | undefined): Tab[] {
  const path = pathOf(repo)
  const tab = (section: Section, text: string, name: string, count?: number | string): Tab => ({
    text,
    href: section === 'code' ? path : `${path}/${section}`,
    icon: name,
    count,
    current: section === current,
  })
  const issues = Math.max(repo.open_issues_count - open_pulls, 0)
  return [
    tab('code', 'Code', 'code'),
    ...(repo.has_issues ? [tab('issues', 'Issues', 'issue-opened', issues)] : []),
    tab('pulls', 'Pull requests', 'git-pull-request', open_pulls >= mostCounted ? `${mostCounted}+` : open_pulls),
    tab('releases', 'Releases', 'tag'),
    tab('activity', 'Activity', 'pulse'),
    ...(repo.access >= levelOf('admin') ? [tab('settings', 'Settings', 'gear')] : []),
  ]
}

const levels = {
  participating: ['Participating and @mentions', 'Notify me when I take part or am mentioned.'],
  all: ['All activity', 'Notify me of everything.'],
  ignore: ['Ignore', 'Never notify me.'],
} as const

function actions(visit: Visit, repo: Repository, { starred, watching }: HeaderFacts): Html {
  const path = pathOf(repo)
  const { subscribers_count, forks_count, stargazers_count } = repo
  const counted = (address: string, count: number, noun: string) =>
    buttonLink(String(count), `${path}/${address}`, { size: 'small', label: `${count} ${noun}${count === 1 ? '' : 's'}` })
  if (!visit.visitor) {
    const toLogin = (text: string, name: string) =>
      buttonLink(text, `/login?return_to=${encodeURIComponent(path)}`, { icon: name, size: 'small' })
    return html`<span class="button-group">${toLogin('Watch', 'eye')}${counted('watchers', subscribers_count, 'watcher')}</span>
<span class="button-group">${toLogin('Fork', 'repo-forked')}${counted('forks', forks_count, 'fork')}</span>
<span class="button-group">${toLogin('Star', 'star')}${counted('stargazers', stargazers_count, 'star')}</span>`
  }
  const mark = (level: string) => (level === watching ? icon('check') : html`<span class="no-icon"></span>`)
  const current = (level: string) => level === watching && html` aria-current="true"`
  const choice = (title: string, text: string) => html`<span>${title}<br><small class="muted">${text}</small></span>`
  const items = Object.entries(levels).map(([level, [title, text]]) => ({
    markup: html`<form method="post" action="${path}/watch"><input type="hidden" name="csrf" value="${visit.csrf}"><button name="level" value="${level}"${current(level)}>${mark(level)}${choice(title, text)}</button></form>`,
  }))
  const custom = {
    markup: html`<a href="${path}/subscription"${current('custom')}>${mark('custom')}${choice('Custom', 'Notify me of the kinds that I choose.')}</a>`,
  }
  const names = { participating: 'Watch', all: 'Watching', custom: 'Watching', ignore: 'Ignoring' }
  const watch = menu(
    html`<span class="button small">${icon(watching === 'ignore' ? 'bell-slash' : 'eye')} ${names[watching]} ${icon('triangle-down')}</span>`,
    [...items, 'divider', custom],
  )
  const star = form(
    visit,
    `${path}/${starred ? 'unstar' : 'star'}`,
    button(starred ? 'Starred' : 'Star', { icon: starred ? 'star-fill' : 'star', size: 'small' }),
    { class: 'inline' },
  )
  const generate = repo.is_template && buttonLink('Use this template', `${path}/generate`, { kind: 'primary', size: 'small' })
  return html`${generate}<span class="button-group">${watch}${counted('watchers', subscribers_count, 'watcher')}</span>
<span class="button-group">${buttonLink('Fork', `${path}/fork`, { icon: 'repo-forked', size: 'small' })}${counted('forks', forks_count, 'fork')}</span>
<span class="button-group">${star}${counted('stargazers', stargazers_count, 'star')}</span>`
}
