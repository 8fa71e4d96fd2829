import { admin, pull, push, type Repo } from '#test/activity/model.ts'
import { type Crowd, type Issue, logins, pathOf } from './crowd.ts'
import type { Topic } from './model.ts'

/** Each act returns the users whose inboxes may have changed. */
type Affected = string[]
const nobody: Affected = []

const triage = 2

const assignable = (crowd: Crowd, repo: Repo) => logins.filter((who) => crowd.world.accessByName(who, repo) > 0)

export async function openSomething(crowd: Crowd): Promise<Affected> {
  const repo = crowd.repo()
  const who = crowd.someone(repo, pull)
  const text = crowd.write(repo)
  const title = `Issue ${crowd.name()}`
  const assignees = crowd.chance(0.4) ? crowd.some(3, assignable(crowd, repo)) : []
  const body = { title, body: text.body, assignees }
  const made = await crowd.ask(who, 'post', `${pathOf(repo)}/issues`, body, crowd.access(who, repo) >= pull)
  if (!made) return nobody
  const topic = crowd.inboxes.begin(repo, 'Issue', made.body.number, title)
  const assigned = crowd.access(who, repo) >= triage ? assignees : []
  crowd.issues.push({ topic, author: who, text, assignees: new Set(assigned) })
  return crowd.inboxes.happen(topic, who, { act: 'opened', people: assigned, ...crowd.mentions(repo, who, text) })
}

/** Mostly a recent issue. */
function someIssue(crowd: Crowd): Issue | undefined {
  if (!crowd.issues.length) return undefined
  return crowd.pick(crowd.chance(0.85) ? crowd.issues.slice(-3) : crowd.issues)
}

export async function commentSomewhere(crowd: Crowd): Promise<Affected> {
  const issue = someIssue(crowd)
  if (!issue) return nobody
  const { topic } = issue
  const who = crowd.someone(topic.repo, pull)
  const text = crowd.write(topic.repo)
  const path = `${pathOf(topic.repo)}/issues/${topic.number}/comments`
  const made = await crowd.ask(who, 'post', path, { body: text.body }, crowd.access(who, topic.repo) >= pull)
  if (!made) return nobody
  crowd.comments.push({ id: made.body.id, topic, author: who, text })
  topic.latest = { type: 'comment', id: made.body.id }
  return crowd.inboxes.happen(topic, who, { act: 'commented', ...crowd.mentions(topic.repo, who, text) })
}

const mayEdit = (crowd: Crowd, who: string, author: string, repo: Repo) =>
  crowd.access(who, repo) >= (who === author ? pull : push)

export async function editComment(crowd: Crowd): Promise<Affected> {
  if (!crowd.comments.length) return nobody
  const comment = crowd.pick(crowd.comments.slice(-10))
  const { topic, author } = comment
  const who = crowd.chance(0.7) ? author : crowd.someone(topic.repo, push)
  const text = crowd.chance(0.5) ? crowd.write(topic.repo) : { ...comment.text, body: `${comment.text.body} or ${crowd.name()}` }
  const path = `${pathOf(topic.repo)}/issues/comments/${comment.id}`
  const may = mayEdit(crowd, who, author, topic.repo)
  if (!(await crowd.ask(who, 'patch', path, { body: text.body }, may))) return nobody
  const mentions = crowd.mentions(topic.repo, who, text, comment.text)
  comment.text = text
  return crowd.inboxes.happen(topic, who, { act: 'edited', ...mentions })
}

export async function deleteComment(crowd: Crowd): Promise<Affected> {
  if (!crowd.comments.length) return nobody
  const comment = crowd.pick(crowd.comments.slice(-10))
  const { id, topic, author } = comment
  const who = crowd.chance(0.7) ? author : crowd.someone(topic.repo, push)
  const may = mayEdit(crowd, who, author, topic.repo)
  if (!(await crowd.ask(who, 'delete', `${pathOf(topic.repo)}/issues/comments/${id}`, undefined, may))) return nobody
  crowd.comments.splice(crowd.comments.indexOf(comment), 1)
  if (topic.latest?.type === 'comment' && topic.latest.id === id) topic.latest = null
  return [...topic.threads.keys()]
}

/** Changes the state, the text or the assignees, or several at once. */
export async function changeIssue(crowd: Crowd): Promise<Affected> {
  const issue = someIssue(crowd)
  if (!issue) return nobody
  const { topic, author } = issue
  const { repo } = topic
  const who = crowd.chance(0.4) ? author : crowd.someone(repo, triage)
  const [moves, edits, assigns] = [topic.state !== 'merged' && crowd.chance(0.8), crowd.chance(0.2), crowd.chance(0.2)]
  const state = moves ? (topic.state === 'closed' ? 'open' : 'closed') : undefined
  const text = edits ? crowd.write(repo) : undefined
  const assignees = assigns ? crowd.some(3, assignable(crowd, repo)) : undefined
  const may = text ? mayEdit(crowd, who, author, repo) : crowd.access(who, repo) >= (who === author ? pull : triage)
  const body = { ...(state && { state }), ...(text && { body: text.body }), ...(assignees && { assignees }) }
  if (!(await crowd.ask(who, 'patch', `${pathOf(repo)}/issues/${topic.number}`, body, may))) return nobody
  const affected = [who]
  if (state) {
    topic.state = state === 'open' ? (issue.open_state ?? 'open') : 'closed'
    affected.push(...crowd.inboxes.happen(topic, who, { act: state === 'open' ? 'reopened' : 'closed' }))
  }
  const mentions = text ? crowd.mentions(repo, who, text, issue.text) : {}
  const assigned = crowd.access(who, repo) < triage ? undefined : assignees
  const people = (assigned ?? []).filter((login) => !issue.assignees.has(login))
  issue.text = text ?? issue.text
  issue.assignees = assigned ? new Set(assigned) : issue.assignees
  // An update that assigns and mentions a user gives two reasons for one act.
  return [...affected, ...crowd.inboxes.happen(topic, who, { act: people.length ? 'assigned' : 'edited', people, ...mentions })]
}

export async function assignSomeone(crowd: Crowd): Promise<Affected> {
  const issue = someIssue(crowd)
  if (!issue) return nobody
  const { topic } = issue
  const who = crowd.someone(topic.repo, triage)
  const ends = crowd.chance(0.3)
  // Often users who muted or ignored the thread.
  const silent = [...topic.minds].flatMap(([login, { state }]) => (state === 'subscribed' ? [] : login))
  const among = ends && issue.assignees.size ? [...issue.assignees] : silent.length && crowd.chance(0.6) ? silent : logins
  const assignees = crowd.some(3, among)
  const path = `${pathOf(topic.repo)}/issues/${topic.number}/assignees`
  const may = crowd.access(who, topic.repo) >= triage
  if (!(await crowd.ask(who, ends ? 'delete' : 'post', path, { assignees }, may))) return nobody
  if (ends) for (const login of assignees) issue.assignees.delete(login)
  if (ends) return assignees
  const people = assignees.filter((login) => assignable(crowd, topic.repo).includes(login) && !issue.assignees.has(login))
  for (const login of people) issue.assignees.add(login)
  return crowd.inboxes.happen(topic, who, { act: 'assigned', people })
}

export async function publishRelease(crowd: Crowd): Promise<Affected> {
  const repo = crowd.repo()
  const who = crowd.someone(repo, push)
  const text = crowd.write(repo)
  const tag_name = crowd.name()
  const body = { tag_name, body: text.body }
  const made = await crowd.ask(who, 'post', `${pathOf(repo)}/releases`, body, crowd.access(who, repo) >= push)
  if (!made) return nobody
  const topic = crowd.inboxes.begin(repo, 'Release', made.body.id, tag_name)
  return crowd.inboxes.happen(topic, who, { act: 'published', ...crowd.mentions(repo, who, text) })
}

export async function deleteRelease(crowd: Crowd): Promise<Affected> {
  const topics = crowd.inboxes.topics.filter(({ type, gone }) => type === 'Release' && !gone)
  if (!topics.length) return nobody
  const topic: Topic = crowd.pick(topics)
  const who = crowd.someone(topic.repo, push)
  const may = crowd.access(who, topic.repo) >= push
  if (!(await crowd.ask(who, 'delete', `${pathOf(topic.repo)}/releases/${topic.number}`, undefined, may))) return nobody
  topic.gone = true
  return [...topic.threads.keys()]
}

export async function renameSomething(crowd: Crowd): Promise<Affected> {
  const repo = crowd.repo()
  const who = crowd.someone(repo, admin)
  const name = crowd.name()
  if (await crowd.ask(who, 'patch', pathOf(repo), { name }, crowd.access(who, repo) >= admin)) repo.name = name
  return [who]
}
