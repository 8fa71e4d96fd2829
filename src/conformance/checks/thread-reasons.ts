import { at, type Row, Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import type { Repo } from '../workspace.ts'
import { notifications } from './notifications.ts'
import { organization, organizationRepo } from './timeline-sources.ts'

const get = 'GET /notifications/threads/{thread_id}'

notifications.check(
  'threads.reason.mention',
  get,
  ['mention | specifically mentioned in the content', 'one of the reasons below'],
  async ({ me, workspace }) => {
    const answer = (await me.get(`/notifications/threads/${(await workspace.thread()).id}`)).is(200)
    answer.equals('reason', answer.row().reason, 'mention')
  },
)

/** Acts of the other user or the caller on a new issue, and the reason that the caller gets. */
const acts: [reason: string, words: string, before: 'comment' | 'close' | 'assign' | 'none'][] = [
  ['comment', 'comment | commented on the thread', 'comment'],
  ['state_change', 'state_change | the user changed the thread state (closing an issue, merging a pull request)', 'close'],
  ['assign', 'assign | assigned to the issue', 'assign'],
  ['subscribed', 'subscribed | watching the repository', 'none'],
]
for (const [reason, words, before] of acts)
  notifications.check(`threads.reason.${reason.replace('_', '-')}`, get, [words], async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.inboxRepo()
    if (reason === 'subscribed') (await me.put(`${repo.path}/subscription`, { subscribed: true })).prepares()
    const title = workspace.name('issue')
    const created = (await caller.post(`${repo.path}/issues`, { title })).prepares().row()
    const issue = `${repo.path}/issues/${created.number}`
    if (before === 'comment') (await me.post(`${issue}/comments`, { body: 'A comment' })).prepares()
    if (before === 'close') (await me.patch(issue, { state: 'closed' })).prepares()
    if (before === 'assign') {
      // The other user may not assign, so a thread is there first, and the caller assigns themselves before a comment brings it up.
      ;(await me.post(`${issue}/assignees`, { assignees: [target.login] })).prepares()
    }
    if (before !== 'none') (await caller.post(`${issue}/comments`, { body: 'Another comment' })).prepares()
    const has = (row: Record<string, unknown>) => at(row, 'subject.title') === title && row.reason === reason
    await me.until(`${repo.path}/notifications?per_page=100&all=true`, `a thread "${title}" with the reason ${reason}`, (list) =>
      list.is(200).list().some(has),
    )
  })

notifications.check(
  'threads.reason.sticky',
  get,
  ['It changes when a later notification has a different reason, and then stays at that value even if the cause does not recur.'],
  async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.inboxRepo()
    const title = workspace.name('issue')
    const { number } = (await me.post(`${repo.path}/issues`, { title })).prepares().row()
    const comment = async (body: string) => (await caller.post(`${repo.path}/issues/${number}/comments`, { body })).prepares()
    const settled = (reason: string, after = '') =>
      me.until(`${repo.path}/notifications?per_page=100&all=true`, `a thread "${title}" with the reason ${reason}`, (list) =>
        list
          .is(200)
          .list()
          .some(
            (row) =>
              at(row, 'subject.title') === title && row.reason === reason && `${at(row, 'subject.latest_comment_url')}` !== after,
          ),
      )
    await comment('A comment')
    await settled('author')
    await comment(`@${target.login}, look`)
    const mentioned = (await settled('mention')).list().find((row) => at(row, 'subject.title') === title)
    await comment('No mention')
    await settled('mention', `${at(mentioned, 'subject.latest_comment_url')}`)
  },
)

/** Waits for a thread of the caller with a reason. */
function untilReason({ me }: Context, repo: Repo, reason: string, isOf: (row: Row) => boolean = () => true) {
  const expected = `a thread of ${repo.full_name} with the reason ${reason}`
  return me.until('/notifications?all=true&per_page=100', expected, (list) =>
    list
      .is(200)
      .list()
      .some((row) => at(row, 'repository.full_name') === repo.full_name && row.reason === reason && isOf(row)),
  )
}

/** A repository of the other user, who invited the caller. The caller accepted. */
const joined = ({ me, other, target, workspace }: Context): Promise<Repo> =>
  workspace.once('repository of the other user', async () => {
    const caller = other()
    const repo = await workspace.repo({}, workspace.other, target.other?.login)
    const invited = await caller.put(`${repo.path}/collaborators/${target.login}`, { permission: 'push' })
    const id = invited.status === 201 ? invited.row().id : undefined
    if (!Number.isInteger(id)) throw new Skip(`The server does not invite collaborators: it gave status ${invited.status}.`)
    ;(await me.patch(`/user/repository_invitations/${id}`)).prepares()
    return repo
  })

notifications.check(
  'threads.reason.invitation',
  get,
  ['invitation | accepted an invitation to contribute to the repository'],
  async (context) => untilReason(context, await joined(context), 'invitation'),
)

notifications.check(
  'threads.reason.review-requested',
  get,
  ['review_requested | the user, or a team of the user, was asked to review a pull request'],
  async (context) => {
    const caller = context.other()
    const repo = await joined(context)
    const main = `${repo.row.default_branch}`
    const { object } = (await caller.get(`${repo.path}/git/ref/heads/${main}`)).prepares().row()
    ;(await caller.post(`${repo.path}/git/refs`, { ref: 'refs/heads/topic', sha: at(object, 'sha') })).prepares()
    const file = { message: 'Add a file', content: Buffer.from('A file\n').toString('base64'), branch: 'topic' }
    ;(await caller.put(`${repo.path}/contents/file.txt`, file)).prepares()
    const title = context.workspace.name('pull-request')
    const { number } = (await caller.post(`${repo.path}/pulls`, { title, head: 'topic', base: main })).prepares().row()
    const reviewers = [context.target.login]
    ;(await caller.post(`${repo.path}/pulls/${number}/requested_reviewers`, { reviewers })).prepares()
    await untilReason(context, repo, 'review_requested', (row) => at(row, 'subject.title') === title)
  },
)

notifications.check('threads.reason.team-mention', get, ['team_mention | a team of the user was mentioned'], async (context) => {
  const { me, other, target, workspace } = context
  const caller = other()
  const org = await organization(context)
  if ((await me.get(`/orgs/${org}/members/${target.other?.login}`)).status !== 204)
    throw new Skip(`The user of --other-token is no member of ${org}, so may not mention its teams.`)
  const made = await me.post(`/orgs/${org}/teams`, { name: workspace.name('team'), privacy: 'closed' })
  if (made.status !== 201) throw new Skip(`The user of --token cannot make teams in ${org}.`)
  const { slug } = made.row()
  workspace.deleteLater(`team ${org}/${slug}`, `/orgs/${org}/teams/${slug}`)
  ;(await me.put(`/orgs/${org}/teams/${slug}/memberships/${target.login}`)).prepares()
  const repo = await organizationRepo(context)
  const title = workspace.name('issue')
  ;(await caller.post(`${repo.path}/issues`, { title, body: `@${org}/${slug}, look` })).prepares()
  await untilReason(context, repo, 'team_mention', (row) => at(row, 'subject.title') === title)
})

notifications.check('threads.reason.manual', get, ['manual | subscribed to the thread'], async (context) => {
  const { me, other, workspace } = context
  const caller = other()
  const repo = await workspace.repo()
  ;(await me.put(`${repo.path}/subscription`, { subscribed: true })).prepares()
  const { number } = (await caller.post(`${repo.path}/issues`, { title: workspace.name('issue') })).prepares().row()
  // The thread is there because of watching; then the caller subscribes to it.
  const list = await untilReason(context, repo, 'subscribed')
  const row = list.list().find((one) => at(one, 'repository.full_name') === repo.full_name)
  ;(await me.put(`/notifications/threads/${row?.id}/subscription`, { ignored: false })).is(200)
  ;(await caller.post(`${repo.path}/issues/${number}/comments`, { body: 'A comment' })).prepares()
  await untilReason(context, repo, 'manual')
})
