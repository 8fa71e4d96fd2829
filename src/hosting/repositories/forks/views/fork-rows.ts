import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { badge } from '#web/components/label.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

/** Forks as rows: whose they are, how many stars and forks they have, and when they changed. */
export const forkRows = (forks: Repository[]): Html => box(forks.map(row), { label: 'Forks' })

function row(fork: Repository): Html {
  const { owner_id, owner_type, owner_login, name, stargazers_count, forks_count, pushed_at, created_at } = fork
  const changed = pushed_at && pushed_at > created_at ? html`pushed ${moment(pushed_at)}` : html`forked ${moment(created_at)}`
  return html`<p>${avatar({ id: owner_id, type: owner_type }, 20)} <a href="/${owner_login}">${owner_login}</a> <span class="muted">/</span>
<a href="${pathOf(fork)}"><strong>${name}</strong></a>${fork.private && html` ${badge('Private')}`}${fork.archived && html` ${badge('Archived', 'attention')}`}</p>
<p class="muted">${icon('star', { label: 'Stars' })} ${shortCount(stargazers_count)} · ${icon('repo-forked', { label: 'Forks' })} ${shortCount(forks_count)} · ${changed}</p>`
}
