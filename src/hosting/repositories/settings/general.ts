import { listBranches } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { loadAdministered, repositorySettings } from '#hosting/repositories/views/settings-page.ts'
import { replaceTopics } from '#hosting/topics/topics.ts'
import { checkWritable } from '#identity/access.ts'
import { invalid } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, select, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { checkBranch } from '../contents.ts'
import { deleteRepository, type RepositoryChanges, updateRepository } from '../update.ts'

const place = '/:owner/:repo/settings'

export const pages: PageRoute[] = [
  showOwn(place, (visit) => general(visit)),
  submitOwn(place, save),
  submitOwn(
    `${place}/visibility`,
    confirmed((visit) =>
      changeCarefully(
        visit,
        (repo) => ({ private: !repo.private }),
        (repo) => `The repository is ${repo.private ? 'private' : 'public'} now.`,
      ),
    ),
  ),
  submitOwn(`${place}/archive`, (visit) =>
    changeCarefully(
      visit,
      (repo) => ({ archived: !repo.archived }),
      (repo) => (repo.archived ? 'The repository is archived.' : 'The repository is no longer archived.'),
    ),
  ),
  submitOwn(`${place}/delete`, erase),
]

/** How many branches the menu of the default branch offers. */
const mostBranches = 200

const features = [
  ['has_issues', 'Issues'],
  ['is_template', 'Template repository: people can create repositories with the same files'],
  ['allow_forking', 'Forks while the repository is private: people with access can fork it'],
] as const
const methods = [
  ['allow_merge_commit', 'Merge commits'],
  ['allow_squash_merge', 'Squash merging'],
  ['allow_rebase_merge', 'Rebase merging'],
] as const

async function general(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const { rows: branches } = await listBranches(visit.db, visit.belfry.storage, repo, '', {
    limit: mostBranches,
    offset: 0,
  })
  const names = new Set([repo.default_branch, ...branches.map(({ name }) => name)])
  const sent = problem ? visit.form : undefined
  const value = (name: string, stored: string | null) => sent?.get(name) ?? stored
  const checks = (list: readonly (readonly [keyof Repository, string])[]) =>
    list.map(([name, text]) => choice({ name, value: 'on', chosen: sent ? sent.has(name) : repo[name] === true }, text))
  const inputs = html`${alert(problem)}${field({ label: 'Repository name', name: 'name', value: value('name', repo.name), required: true, longest: 100, hint: 'A former name redirects to the new one.' })}
${field({ label: 'Description', name: 'description', value: value('description', repo.description), longest: 350 })}
${field({ label: 'Website', name: 'homepage', type: 'url', value: value('homepage', repo.homepage), longest: 255 })}
${field({ label: 'Topics', name: 'topics', value: value('topics', repo.topics.join(' ')), longest: 1100, hint: 'Words of letters, digits and hyphens, separated by spaces.' })}
${select(
  'Default branch',
  'default_branch',
  [...names].map((name) => [name, name]),
  sent?.get('default_branch') ?? repo.default_branch,
)}
<fieldset><legend>Features</legend>${checks(features)}</fieldset><fieldset><legend>Pull requests may be merged by</legend>${checks(methods)}</fieldset>
${button('Save', { kind: 'primary' })}`
  const body = repo.archived
    ? html`<p>This repository is archived, so its settings cannot be changed.</p>${dangers(visit, repo)}`
    : html`${form(visit, `${pathOf(repo)}/settings`, inputs)}${dangers(visit, repo)}`
  return repositorySettings(visit, repo, '', 'Settings', body, problem?.status)
}

function dangers(visit: SignedIn, repo: Repository): Html {
  const path = `${pathOf(repo)}/settings`
  const other = repo.private ? 'public' : 'private'
  return html`<h2>Danger zone</h2><div class="danger-zone">
${danger(visit, repo, `${path}/visibility`, `Make this repository ${other}`, repo.private ? 'Everyone will see its files, issues and history. Its forks become private repositories of their own.' : 'People without access lose sight of it, and their stars and watches of it end. Its public forks become a network of their own.', `Make ${other}`)}
<div><div><strong>Transfer this repository</strong><p class="muted">Another person or organization becomes its owner.</p></div>${buttonLink('Transfer', `${pathOf(repo)}/transfer`, { kind: 'danger' })}</div>
${danger(visit, repo, `${path}/archive`, repo.archived ? 'Unarchive this repository' : 'Archive this repository', repo.archived ? 'People can change it again.' : 'It stays visible, and nobody can change it.', repo.archived ? 'Unarchive' : 'Archive')}
${danger(visit, repo, `${path}/delete`, 'Delete this repository', `Its files, issues, pull requests and webhooks are deleted for ever. ${repo.private ? 'Its forks are deleted too.' : 'Its public forks remain.'}`, 'Delete')}</div>`
}

/** The name must be typed, because none of these is done by accident. */
function danger(visit: SignedIn, repo: Repository, action: string, title: string, text: string, word: string): Html {
  const id = `confirm-${word.toLowerCase().replaceAll(' ', '-')}`
  const inside = html`<label class="unseen" for="${id}">To confirm, type ${repo.owner_login}/${repo.name}</label><input id="${id}" name="confirm" placeholder="${repo.owner_login}/${repo.name}" autocomplete="off" required>${button(word, { kind: 'danger' })}`
  return html`<div><div><strong>${title}</strong><p class="muted">${text} Type the full name to confirm.</p></div>${form(visit, action, inside, { class: 'buttons' })}</div>`
}

function save(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      checkWritable(repo)
      const given = (name: string) => typed(visit.form, name)
      const changes: RepositoryChanges = {
        name: given('name'),
        description: given('description') || null,
        homepage: given('homepage') || null,
        default_branch: given('default_branch') || repo.default_branch,
        ...Object.fromEntries([...features, ...methods].map(([name]) => [name, visit.form.has(name)])),
      }
      if (!methods.some(([name]) => changes[name]))
        throw invalid({ resource: 'Repository', code: 'custom', message: 'choose at least one way to merge' })
      if (changes.default_branch !== repo.default_branch)
        await checkBranch(visit.belfry.storage, repo, changes.default_branch ?? '')
      const changed = await visit.db.transaction(async (db) => {
        await replaceTopics(
          db,
          viewerOf(visit),
          visit.visitor,
          repo,
          given('topics')
            .split(/[\s,]+/)
            .filter(Boolean),
        )
        return updateRepository(db, viewerOf(visit), visit.visitor, repo, changes)
      })
      return { to: `${pathOf(changed)}/settings`, flash: { done: 'The settings are saved.' } }
    },
    (problem) => general(visit, problem),
  )
}

function checkConfirmed(visit: SignedIn, repo: Repository) {
  if (typed(visit.form, 'confirm').toLowerCase() === `${repo.owner_login}/${repo.name}`.toLowerCase()) return
  throw invalid({ resource: 'Repository', code: 'custom', message: `To confirm, type ${repo.owner_login}/${repo.name}` })
}

function changeCarefully(
  visit: SignedIn,
  changesOf: (repo: Repository) => RepositoryChanges,
  done: (repo: Repository) => string,
): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      checkConfirmed(visit, repo)
      const changed = await visit.db.transaction((db) =>
        updateRepository(db, viewerOf(visit), visit.visitor, repo, changesOf(repo)),
      )
      return { to: `${pathOf(changed)}/settings`, flash: { done: done(changed) } }
    },
    (problem) => general(visit, problem),
  )
}

function erase(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      checkConfirmed(visit, repo)
      await visit.db.transaction((db) => deleteRepository(db, visit.visitor, repo))
      return { to: `/${repo.owner_login}` }
    },
    (problem) => general(visit, problem),
  )
}
