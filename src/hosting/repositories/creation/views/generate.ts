import { listOwners } from '#hosting/repositories/creation/owners.ts'
import { generateRepository } from '#hosting/repositories/generation/generate.ts'
import { loadReceiver } from '#hosting/repositories/receiver.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { button } from '#web/components/button.ts'
import { alert, attempt, choice, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type SignedIn } from '#web/page.ts'
import { descriptionField, draftIn, ownerAndName, visibilityChoice } from './new-repository.ts'

async function loadTemplate(visit: SignedIn): Promise<Repository> {
  const repo = await loadVisibleRepository(visit)
  if (!repo.is_template) throw missing()
  return repo
}

/** A new repository with the files of a template, without its history. */
export async function generatePage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const template = await loadTemplate(visit)
  const owners = await listOwners(visit.db, visit.visitor)
  const draft = draftIn(visit.form)
  const isPrivate = template.private || draft.private
  const fields = html`${alert(problem)}${ownerAndName(owners, draft)}${descriptionField(draft.description)}${visibilityChoice(isPrivate)}
${choice({ name: 'all_branches', value: 'yes', chosen: visit.form.get('all_branches') === 'yes' }, html`<span>Copy all branches<br><span class="muted">Without it, only the files of <code>${template.default_branch}</code> are copied.</span></span>`)}
<p class="buttons">${button('Create repository', { kind: 'primary' })}</p>`
  const name = `${template.owner_login}/${template.name}`
  const body = html`<main class="new-repository"><h1>Create a repository from ${name}</h1>
<p class="muted">It begins with the files of the template, in one commit of yours. ${template.private && 'Because the template is private, the repository must be private.'}</p>
${form(visit, `${pathOf(template)}/generate`, fields)}</main>`
  return {
    title: `New repository from ${name}`,
    body,
    above: repositoryHeader(template),
    ...(problem && { status: problem.status }),
  }
}

export async function generate(visit: SignedIn): Promise<Outcome> {
  const template = await loadTemplate(visit)
  const { db, visitor } = visit
  return attempt(
    async () => {
      const { name, description, ...draft } = draftIn(visit.form)
      const owner = await loadReceiver(db, visitor, draft.owner)
      const all_branches = visit.form.get('all_branches') === 'yes'
      const wanted = { name, description: description || null, private: draft.private, all_branches }
      const made = await db.transaction((transaction) =>
        generateRepository(transaction, viewerOf(visit), template, visitor, owner, wanted),
      )
      return { to: pathOf(made) }
    },
    (problem) => generatePage(visit, problem),
  )
}
