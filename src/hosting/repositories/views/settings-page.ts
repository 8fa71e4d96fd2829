import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkAccess } from '#identity/access.ts'
import { icon } from '#web/components/icon.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Outcome, SignedIn } from '#web/page.ts'
import { repositoryHeader } from './repository-header.ts'
import { loadVisibleRepository, pathOf } from './repository-page.ts'

const sections = [
  ['', 'General', 'gear'],
  ['/collaborators', 'Collaborators', 'people'],
  ['/branches', 'Branch protection', 'git-branch'],
  ['/hooks', 'Webhooks', 'webhook'],
  ['/keys', 'Deploy keys', 'key'],
] as const

export type SettingsSection = (typeof sections)[number][0]

/** The repository that the path names, for its administrators. */
export async function loadAdministered(visit: SignedIn): Promise<Repository> {
  const repo = await loadVisibleRepository(visit)
  checkAccess(repo.access, 'admin')
  return repo
}

/** The content beside a list of the settings pages. */
export function settingsFrame(repo: Repository, current: SettingsSection, main: Html): Html {
  const path = `${pathOf(repo)}/settings`
  const links = sections.map(
    ([end, text, name]) =>
      html`<a class="side-link" href="${path}${end}"${end === current && html` aria-current="page"`}>${icon(name)} ${text}</a>`,
  )
  return html`<div class="settings"><nav aria-label="Settings of the repository">${links}</nav>${main}</div>`
}

export function repositorySettings(
  visit: SignedIn,
  repo: Repository,
  current: SettingsSection,
  title: string,
  body: Html,
  status = 200,
): Outcome {
  return {
    title: `${title} · ${repo.owner_login}/${repo.name}`,
    status,
    above: repositoryHeader(repo, 'settings'),
    body: settingsFrame(repo, current, html`<main>${banner(visit.flash.done)}<h1>${title}</h1>${body}</main>`),
  }
}
