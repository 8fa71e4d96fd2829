import type { Act } from '#activity/acts.ts'
import { loadComment } from '#hosting/issues/comments/comments.ts'
import { deleteComment, updateComment } from '#hosting/issues/comments/update.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import { setAssignees, setLabels } from '#hosting/issues/triage.ts'
import { setLock, triageIssue, updateIssue } from '#hosting/issues/update.ts'
import { written } from '#hosting/mentions/views/render-texts.ts'
import { type Content, contents, type Subject, toggleReaction } from '#hosting/reactions/reactions.ts'
import { viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { checkAccess, checkWritable } from '#identity/access.ts'
import type { Transaction } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { attempt } from '#web/fields.ts'
import { toggleTask } from '#web/markdown/tasks.ts'
import { type Outcome, type PageRoute, type SignedIn, submitOwn } from '#web/page.ts'
import { addressOf, type Conversation, postAddress } from './conversation.ts'
import { conversationPage } from './conversation-page.ts'
import { changedSince, replaceAdvice, versionOf } from './post-tools.ts'
import { postIn } from './quoting.ts'
import { reply } from './reply.ts'

/** The forms of an issue or pull request, below its path. `load` also refuses a number of the other kind. */
export function conversationRoutes(place: string, load: (visit: SignedIn) => Promise<Conversation>): PageRoute[] {
  const route = (path: string, handler: (visit: SignedIn, conversation: Conversation) => Promise<Outcome>) =>
    submitOwn(`${place}/${path}`, async (visit) => handler(visit, await load(visit)))
  return [
    route('comments', reply),
    route('title', changeTitle),
    route('edit', edit),
    route('delete', remove),
    route('reactions', toggle),
    route('tasks', checkTask),
    route('labels', (visit, conversation) =>
      triage(
        visit,
        conversation,
        'label',
        (db, held, names) => setLabels(db, conversation.repo, visit.visitor, held, names),
        ({ labels }) => labels.map(({ name }) => name),
      ),
    ),
    route('assignees', (visit, conversation) =>
      triage(
        visit,
        conversation,
        'assignee',
        (db, held, logins) => setAssignees(db, conversation.repo, held, logins),
        ({ assignees }) => assignees.map(({ login }) => login),
      ),
    ),
    route('milestone', changeMilestone),
    route('lock', changeLock),
  ]
}

async function changeTitle(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  return attempt(
    async () => {
      const title = written(visit.form, 'title')
      await visit.db.transaction(async (db) => {
        checkWritable(repo)
        await updateIssue(db, viewerOf(visit), repo, visit.visitor, issue.number, { title })
      })
      return { to: addressOf(conversation) }
    },
    (problem) => conversationPage(visit, conversation, { form: 'title', body: visit.form.get('title') ?? '', problem }),
  )
}

/** Edits the opening text or a comment. If it was changed meanwhile, the form is shown again, and saving it then replaces that change. */
async function edit(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const anchor = visit.form.get('post') ?? ''
  const body = visit.form.get('body') ?? ''
  if (!postIn(anchor)) throw missing()
  if (visit.form.has('preview')) return conversationPage(visit, conversation, { form: anchor, body, preview: true })
  return attempt(
    async () => {
      const text = written(visit.form, 'body')
      await changeText(visit, conversation, () => text, replaceAdvice)
      return { to: postAddress(addressOf(conversation), visit.query, anchor) }
    },
    (problem) => conversationPage(visit, conversation, { form: anchor, body, problem }),
  )
}

/** The box number `task` of a task list is checked or unchecked. */
async function checkTask(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const index = Number(/^\d{1,5}$/.exec(visit.form.get('task') ?? '')?.[0] ?? -1)
  const done = visit.form.get('done') === 'yes'
  const advice = 'Reload the page, and try again.'
  const check = async (body: string) => {
    const changed = await toggleTask(body, index, done)
    if (changed === undefined) throw changedSince(advice)
    return changed
  }
  await changeText(visit, conversation, check, advice)
  return { to: postAddress(addressOf(conversation), visit.query, visit.form.get('post') ?? '') }
}

/** Replaces the text of the post that the form names, if it is still the text that the form showed. */
async function changeText(
  visit: SignedIn,
  { repo, issue }: Conversation,
  change: (body: string) => string | Promise<string>,
  advice: string,
) {
  const post = postIn(visit.form.get('post'))
  const version = visit.form.get('version')
  const next = async (body: string | null) => {
    if (version !== versionOf(body)) throw changedSince(advice)
    return change(body ?? '')
  }
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    if (post?.kind === 'issue' && post.id === issue.id) {
      await updateIssue(db, viewerOf(visit), repo, visit.visitor, issue.number, { body: (await next(issue.body)) || null })
    } else {
      const { id, body } = await loadOwnComment(db, { repo, issue }, post)
      await updateComment(db, viewerOf(visit), repo, visit.visitor, id, await next(body))
    }
  })
}

/** A comment of this conversation. */
async function loadOwnComment(
  db: Transaction,
  { repo, issue }: Pick<Conversation, 'repo' | 'issue'>,
  post: ReturnType<typeof postIn>,
) {
  if (post?.kind !== 'issuecomment') throw missing()
  const comment = await loadComment(db, repo, post.id)
  if (comment.issue_id !== issue.id) throw missing()
  return comment
}

async function remove(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo } = conversation
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    const { id } = await loadOwnComment(db, conversation, postIn(visit.form.get('post')))
    await deleteComment(db, repo, visit.visitor, id)
  })
  return { to: addressOf(conversation), flash: { done: 'The comment is deleted.' } }
}

async function toggle(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  const content = contents.find((one) => one === visit.form.get('content'))
  const post = postIn(visit.form.get('post'))
  if (!content || !post) throw missing()
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    const subject = await subjectOf(db, conversation, post)
    await toggleReaction(db, repo, visit.visitor, { ...subject, locked: issue.locked }, content satisfies Content)
  })
  return { to: postAddress(addressOf(conversation), visit.query, visit.form.get('post') ?? '') }
}

async function subjectOf(
  db: Transaction,
  conversation: Conversation,
  post: NonNullable<ReturnType<typeof postIn>>,
): Promise<Omit<Subject, 'locked'>> {
  const { issue } = conversation
  if (post.kind === 'issuecomment') return { column: 'comment_id', id: (await loadOwnComment(db, conversation, post)).id }
  if (post.id !== issue.id) throw missing()
  return { column: 'issue_id', id: issue.id }
}

/** Names that a picker sent, at most as many as the API accepts. */
const namesIn = (form: URLSearchParams, name: string) =>
  [...new Set(form.getAll(name).map((one) => one.trim()))].filter(Boolean).slice(0, 200)

/** Applies what the form changed to what the issue has now, so that nobody else's change is lost. */
async function triage(
  visit: SignedIn,
  conversation: Conversation,
  field: 'label' | 'assignee',
  set: (db: Transaction, held: Issue, names: string[]) => Promise<Act[]>,
  namesOf: (issue: Issue) => string[],
): Promise<Outcome> {
  const { repo, issue } = conversation
  const [chosen, had] = [namesIn(visit.form, field), namesIn(visit.form, 'had')]
  return attempt(
    async () => {
      await visit.db.transaction(async (db) => {
        checkWritable(repo)
        checkAccess(repo.access, 'triage')
        await triageIssue(db, repo, visit.visitor, issue.number, (held) => {
          const removed = new Set(had.filter((name) => !chosen.includes(name)))
          const added = chosen.filter((name) => !had.includes(name))
          return set(db, held, [...new Set([...namesOf(held).filter((name) => !removed.has(name)), ...added])])
        })
      })
      return { to: addressOf(conversation) }
    },
    (problem) => conversationPage(visit, conversation, { body: '', problem }),
  )
}

async function changeMilestone(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  const number = /^[1-9]\d{0,8}$/.exec(visit.form.get('milestone') ?? '')?.[0]
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    checkAccess(repo.access, 'triage')
    await updateIssue(db, viewerOf(visit), repo, visit.visitor, issue.number, {
      milestone: number === undefined ? null : Number(number),
    })
  })
  return { to: addressOf(conversation) }
}

const lockReasons = ['off-topic', 'too heated', 'resolved', 'spam']

async function changeLock(visit: SignedIn, conversation: Conversation): Promise<Outcome> {
  const { repo, issue } = conversation
  const reason = lockReasons.find((one) => one === visit.form.get('reason')) ?? null
  const locked = visit.form.get('lock') === 'yes'
  await visit.db.transaction(async (db) => {
    checkWritable(repo)
    checkAccess(repo.access, 'push')
    await setLock(db, repo, visit.visitor, issue.number, locked, locked ? reason : null)
  })
  return { to: addressOf(conversation) }
}
