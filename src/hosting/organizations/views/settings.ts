import {
  checkOwner,
  type Organization,
  renameOrganization,
  setMemberAccess,
  setPrivateForking,
} from '#hosting/organizations/organizations.ts'
import { updateProfile } from '#hosting/people/people.ts'
import { levelOf, permissionOf } from '#identity/access.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { banner } from '#web/components/toast.ts'
import { alert, attempt, choice, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { loadVisited, organizationHeader } from './organization-header.ts'

const fields = [
  ['name', 'Display name'],
  ['bio', 'Description'],
  ['email', 'E-mail address'],
  ['blog', 'Home page'],
  ['location', 'Location'],
] as const

const accessLevels: [string, string][] = [
  ['none', 'None: members see public repositories, and those they are added to'],
  ['read', 'Read: members see and clone all repositories'],
  ['write', 'Write: members push to all repositories'],
  ['admin', 'Admin: members administer all repositories'],
]

async function loadOwned(visit: SignedIn): Promise<Organization> {
  const org = await loadVisited(visit)
  checkOwner(org)
  return org
}

const pathOf = ({ login }: Pick<Organization, 'login'>) => `/organizations/${login}/settings/profile`

/** The pages of an organization's settings beside one of them. */
export function settingsFrame(org: Organization, title: string, body: Html): Html {
  const links = [
    ['gear', 'General', pathOf(org)],
    ['person', 'People', `/orgs/${org.login}/people`],
    ['people', 'Teams', `/orgs/${org.login}/teams`],
    ['apps', 'Apps', `/organizations/${org.login}/settings/apps`],
    ['webhook', 'Webhooks', `/organizations/${org.login}/settings/hooks`],
  ].map(
    ([name = '', text, href]) =>
      html`<a class="side-link" href="${href}"${href === pathOf(org) && html` aria-current="page"`}>${icon(name)} ${text}</a>`,
  )
  return html`<div class="settings"><nav aria-label="Settings">${links}</nav><main><h1>${title}</h1>${body}</main></div>`
}

export async function settingsPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const org = await loadOwned(visit)
  const value = (name: string, stored: string | null) => (visit.form.has(name) ? typed(visit.form, name) : stored)
  const inputs = fields.map(([name, label]) =>
    field({ label, name, value: value(name, org[name]), type: name === 'email' ? 'email' : 'text' }),
  )
  const access = value('member_access', permissionOf(org.member_access)) ?? 'read'
  const profile = html`${inputs}${select('What members may do in all repositories', 'member_access', accessLevels, access)}
${choice({ name: 'private_forks', value: 'on', chosen: visit.form.has('member_access') ? visit.form.has('private_forks') : org.members_can_fork_private_repositories }, 'People with access can fork private repositories')}
<p class="buttons">${button('Save', { kind: 'primary' })}</p>`
  const rename = html`${field({ label: 'New name', name: 'login', value: value('login', org.login), required: true, longest: 39, hint: 'Addresses of its repositories redirect to the new name.' })}
<p class="buttons">${button('Rename the organization', { kind: 'danger' })}</p>`
  const body = html`${banner(visit.flash.done)}${alert(problem)}${form(visit, pathOf(org), profile)}
<h2>Rename</h2>${form(visit, `/organizations/${org.login}/settings/rename`, rename)}`
  return {
    title: `Settings · ${org.login}`,
    body: settingsFrame(org, 'General', body),
    above: organizationHeader(org, 'settings'),
    ...(problem && { status: problem.status }),
  }
}

export async function saveSettings(visit: SignedIn): Promise<Outcome> {
  const org = await loadOwned(visit)
  return attempt(
    async () => {
      const profile = Object.fromEntries(fields.map(([name]) => [name, typed(visit.form, name).slice(0, 500) || null]))
      const access = levelOf(typed(visit.form, 'member_access'))
      const known = accessLevels.some(([name]) => name === typed(visit.form, 'member_access'))
      await visit.db.transaction(async (db) => {
        if (known && access !== org.member_access) await setMemberAccess(db, visit.visitor, org, access)
        if (known) await setPrivateForking(db, visit.visitor, org, visit.form.has('private_forks'))
        await updateProfile(db, org, profile)
      })
      return { to: pathOf(org), flash: { done: 'The settings are saved.' } }
    },
    (problem) => settingsPage(visit, problem),
  )
}

export async function rename(visit: SignedIn): Promise<Outcome> {
  const org = await loadOwned(visit)
  return attempt(
    async () => {
      const renamed = await visit.db.transaction((db) => renameOrganization(db, visit.visitor, org, typed(visit.form, 'login')))
      return { to: pathOf(renamed), flash: { done: `The organization is called ${renamed.login} now.` } }
    },
    (problem) => settingsPage(visit, problem),
  )
}
