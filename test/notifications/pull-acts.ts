import { pull, push, type Repo } from '#test/activity/model.ts'
import { type Crowd, type Issue, logins, pathOf, type Text } from './crowd.ts'

/** Further state of a pull request. */
interface Proposal {
  issue: Issue
  branch: string
  draft: boolean
  /** Requested reviewers without a review since. */
  asked: Set<string>
  crew_asked: boolean
  reviews: { id: number; author: string; text: Text }[]
}

const proposals = new WeakMap<Issue, Proposal>()
const triage = 2

/** Pushes a branch and opens a pull request, sometimes for an existing issue. */
export async function proposeSomething(crowd: Crowd) {
  const repo = crowd.repo()
  const who = crowd.someone(repo, push)
  if (crowd.access(who, repo) < push) return []
  const branch = crowd.name()
  const { object } = await crowd.person(who).read(`${pathOf(repo)}/git/ref/heads/main`)
  await crowd.ask(who, 'post', `${pathOf(repo)}/git/refs`, { ref: `refs/heads/${branch}`, sha: object.sha }, true)
  await write(crowd, who, repo, branch)
  const draft = crowd.chance(0.3)
  const ends = { head: branch, base: 'main', draft }
  const path = `${pathOf(repo)}/pulls`
  const issues = crowd.issues.filter(({ topic }) => topic.repo === repo && topic.type === 'Issue' && topic.state === 'open')
  if (issues.length && crowd.chance(0.3)) {
    const issue = crowd.pick(issues)
    await crowd.ask(who, 'post', path, { issue: issue.topic.number, ...ends }, true)
    issue.topic.type = 'PullRequest'
    return begin(crowd, who, issue, branch, draft)
  }
  const text = crowd.write(repo)
  const title = `Pull ${crowd.name()}`
  const made = await crowd.ask(who, 'post', path, { title, body: text.body, ...ends }, true)
  const topic = crowd.inboxes.begin(repo, 'PullRequest', made?.body.number, title)
  const issue = { topic, author: who, text, assignees: new Set<string>() }
  crowd.issues.push(issue)
  return begin(crowd, who, issue, branch, draft)
}

function begin(crowd: Crowd, who: string, issue: Issue, branch: string, draft: boolean) {
  issue.open_state = draft ? 'draft' : 'open'
  issue.topic.state = issue.open_state
  proposals.set(issue, { issue, branch, draft, asked: new Set(), crew_asked: false, reviews: [] })
  return crowd.inboxes.happen(issue.topic, who, { act: 'opened', ...crowd.mentions(issue.topic.repo, who, issue.text) })
}

const write = (crowd: Crowd, who: string, repo: Repo, branch: string) =>
  crowd.ask(who, 'put', `${pathOf(repo)}/contents/${crowd.name()}`, { message: 'Write', content: btoa('written'), branch }, true)

function someProposal(crowd: Crowd) {
  const found = crowd.issues.flatMap((issue) => proposals.get(issue) ?? [])
  return found.length ? crowd.pick(found.slice(-4)) : undefined
}

export async function pushMore(crowd: Crowd) {
  const proposal = someProposal(crowd)
  if (!proposal) return []
  const { topic } = proposal.issue
  const who = crowd.someone(topic.repo, push)
  if (crowd.access(who, topic.repo) < push || !isOpen(proposal)) return []
  await write(crowd, who, topic.repo, proposal.branch)
  return crowd.inboxes.happen(topic, who, { act: 'pushed' })
}

const isOpen = ({ issue }: Proposal) => issue.topic.state === issue.open_state

export async function askForReview(crowd: Crowd) {
  const proposal = someProposal(crowd)
  if (!proposal) return []
  const { topic, author } = proposal.issue
  const { repo } = topic
  const who = crowd.someone(repo, triage)
  const org = crowd.world.orgs.get(repo.owner)
  const able = logins.filter((login) => login !== author && crowd.world.accessByName(login, repo) > 0)
  const reviewers = able.length ? crowd.some(2, able) : []
  const team = org?.members.has(who) && crowd.chance(0.5)
  const body = { reviewers, team_reviewers: team ? ['crew'] : [] }
  const path = `${pathOf(repo)}/pulls/${topic.number}/requested_reviewers`
  if (!(await crowd.ask(who, 'post', path, body, crowd.access(who, repo) >= triage))) return []
  const people = reviewers.filter((login) => !proposal.asked.has(login))
  const team_people = team && !proposal.crew_asked ? [...(org?.crew.members ?? [])] : []
  for (const login of people) proposal.asked.add(login)
  if (team) proposal.crew_asked = true
  return crowd.inboxes.happen(topic, who, { act: 'review_requested', people, team_people })
}

export async function reviewSomething(crowd: Crowd) {
  const proposal = someProposal(crowd)
  if (!proposal) return []
  const { topic } = proposal.issue
  const who = crowd.someone(topic.repo, pull)
  const path = `${pathOf(topic.repo)}/pulls/${topic.number}/reviews`
  const text = crowd.write(topic.repo)
  const review = proposal.reviews.find(({ author }) => author === who)
  if (review && crowd.chance(0.5)) {
    const may = crowd.access(who, topic.repo) >= pull
    if (!(await crowd.ask(who, 'put', `${path}/${review.id}`, { body: text.body }, may))) return []
    const mentions = crowd.mentions(topic.repo, who, text, review.text)
    review.text = text
    return crowd.inboxes.happen(topic, who, { act: 'edited', ...mentions })
  }
  const made = await crowd.ask(who, 'post', path, { event: 'COMMENT', body: text.body }, crowd.access(who, topic.repo) >= pull)
  if (!made) return []
  proposal.asked.delete(who)
  proposal.reviews.push({ id: made.body.id, author: who, text })
  topic.latest = { type: 'review', id: made.body.id }
  return crowd.inboxes.happen(topic, who, { act: 'reviewed', ...crowd.mentions(topic.repo, who, text) })
}

export async function mergeSomething(crowd: Crowd) {
  const proposal = someProposal(crowd)
  if (!proposal) return []
  const { topic } = proposal.issue
  const who = crowd.someone(topic.repo, push)
  const may = crowd.access(who, topic.repo) >= push && topic.state === 'open'
  if (!(await crowd.ask(who, 'put', `${pathOf(topic.repo)}/pulls/${topic.number}/merge`, {}, may))) return []
  topic.state = 'merged'
  return crowd.inboxes.happen(topic, who, { act: 'merged' })
}
