import { createOrganization, updateProfile } from '#hosting/people/people.ts'
import { ownedRepositories } from '#hosting/repositories/views/owned-repositories.ts'
import { button } from '#web/components/button.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn, type Visit } from '#web/page.ts'
import { answerInvitation, cancel, invitationPage } from './views/invitations.ts'
import { loadVisited, organizationHeader } from './views/organization-header.ts'
import { ownOrganizations } from './views/own-organizations.ts'
import { addMember, changeVisibility, peoplePage, removeMember } from './views/people.ts'
import { rename, saveSettings, settingsPage } from './views/settings.ts'

export const pages: PageRoute[] = [
  showOwn('/organizations/new', (visit) => newPage(visit)),
  submitOwn('/organizations/new', create),
  show('/orgs/:org', async (visit) => ({ to: `/${(await loadVisited(visit)).login}` })),
  show('/orgs/:org/repositories', repositoriesPage),
  show('/orgs/:org/people', (visit) => peoplePage(visit)),
  submitOwn('/orgs/:org/people', confirmed(addMember)),
  submitOwn('/orgs/:org/people/remove', removeMember),
  submitOwn('/orgs/:org/people/cancel', cancel),
  submitOwn('/orgs/:org/people/visibility', changeVisibility),
  showOwn('/orgs/:org/invitation', invitationPage),
  submitOwn('/orgs/:org/invitation', answerInvitation),
  showOwn('/settings/organizations', ownOrganizations),
  showOwn('/organizations/:org/settings/profile', (visit) => settingsPage(visit)),
  submitOwn('/organizations/:org/settings/profile', confirmed(saveSettings)),
  submitOwn('/organizations/:org/settings/rename', rename),
]

async function repositoriesPage(visit: Visit): Promise<Outcome> {
  const org = await loadVisited(visit)
  const list = await ownedRepositories(visit, org, { path: `/orgs/${org.login}/repositories`, creates: org.role !== null })
  const body = html`<main class="organization"><h1 class="unseen">Repositories of ${org.login}</h1>${list}</main>`
  return { title: `Repositories · ${org.login}`, body, above: organizationHeader(org, 'repositories') }
}

function newPage(visit: SignedIn, problem?: Problem): Outcome {
  const value = (name: string) => visit.form.get(name) ?? ''
  const inputs = html`${alert(problem)}${field({ label: 'Name', name: 'login', value: value('login'), required: true, longest: 39, hint: 'Up to 39 letters, digits and single hyphens. It becomes part of the address of every repository.' })}
${field({ label: 'Display name (optional)', name: 'name', value: value('name'), longest: 255 })}
${field({ label: 'Description (optional)', name: 'description', value: value('description'), longest: 500 })}
<p class="buttons">${button('Create organization', { kind: 'primary' })}</p>`
  const body = html`<main class="new-repository"><h1>Create an organization</h1>
<p class="muted">An organization owns repositories together with other people. You become its first owner.</p>
${form(visit, '/organizations/new', inputs)}</main>`
  return { title: 'New organization', body, ...(problem && { status: problem.status }) }
}

function create(visit: SignedIn): Promise<Outcome> {
  const { db, visitor, form: sent } = visit
  return attempt(
    async () => {
      const org = await db.transaction(async (transaction) => {
        const name = typed(sent, 'name').slice(0, 255) || null
        const made = await createOrganization(transaction, typed(sent, 'login'), name, visitor)
        const bio = typed(sent, 'description').slice(0, 500)
        return bio ? updateProfile(transaction, made, { bio }) : made
      })
      return { to: `/orgs/${org.login}/people`, flash: { done: `${org.login} is created. Add the people who work with you.` } }
    },
    (problem) => newPage(visit, problem),
  )
}
