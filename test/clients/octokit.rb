# A newcomer's story with octokit.rb, after its README.
require 'octokit'
require 'base64'

Octokit.configure { |c| c.api_endpoint = "#{ENV.fetch('BELFRY')}/api/v3/" }
ADA = Octokit::Client.new(access_token: ENV.fetch('ADA'))
BEN = Octokit::Client.new(access_token: ENV.fetch('BEN'))
# Only apps report checks.
CHECKER = Octokit::Client.new(access_token: ENV.fetch('CHECKER'))
REPO = 'ada/engine'

def chapter(name)
  yield
  puts "works #{name}"
rescue StandardError => e
  puts "failed #{name}"
  $stderr.puts e.full_message(highlight: false)
end

def same(expected, actual)
  raise "expected #{expected.inspect}, got #{actual.inspect}" unless expected == actual
end

def refused(kind)
  yield
rescue kind
  nil
else
  raise "no #{kind}"
end

# Notifications arrive a moment after their cause.
def eventually
  deadline = Time.now + 30
  begin
    yield
  rescue RuntimeError
    raise if Time.now > deadline

    sleep 0.05
    retry
  end
end

puts "version #{Octokit::VERSION} (Debian)"

chapter 'repositories, topics' do
  repo = ADA.create_repository('engine', description: 'It counts', auto_init: true)
  same %w[ada/engine main], [repo.full_name, repo.default_branch]
  ADA.edit_repository(REPO, homepage: 'https://engine.example')
  same 'https://engine.example', BEN.repository(REPO).homepage
  same [REPO], ADA.repositories.map(&:full_name)
  ADA.replace_all_topics(REPO, %w[brass engines])
  same %w[brass engines], BEN.topics(REPO).names
  same %w[main], ADA.branches(REPO).map(&:name)
  same true, BEN.repository?(REPO)
  same false, BEN.repository?('ada/nothing')
end

chapter 'contents' do
  ADA.create_contents(REPO, 'docs/notes.txt', 'Add notes', "One\n")
  file = BEN.contents(REPO, path: 'docs/notes.txt')
  same "One\n", Base64.decode64(file.content)
  ADA.update_contents(REPO, 'docs/notes.txt', 'Edit notes', file.sha, "Two\n")
  refused(Octokit::Conflict) { ADA.update_contents(REPO, 'docs/notes.txt', 'Edit', file.sha, "Three\n") }
end

chapter 'commits, comparisons, statuses' do
  commits = BEN.commits(REPO)
  same ['Edit notes', 'Add notes'], commits.first(2).map { |c| c.commit.message }
  same %w[docs/notes.txt], BEN.commit(REPO, commits.first.sha).files.map(&:filename)
  same 1, BEN.compare(REPO, commits[1].sha, 'main').ahead_by
  ADA.create_status(REPO, commits.first.sha, 'success', context: 'ci/build')
  same 'success', BEN.combined_status(REPO, 'main').state
end

chapter 'check runs, deployments, branch protection' do
  head = BEN.commit(REPO, 'main').sha
  output = { title: 'Failed', summary: 'One of two' }
  CHECKER.create_check_run(REPO, 'unit', head, conclusion: 'failure', output: output)
  same %w[failure], BEN.check_runs_for_ref(REPO, 'main').check_runs.map(&:conclusion)
  deployment = ADA.create_deployment(REPO, 'main', required_contexts: [])
  ADA.create_deployment_status(deployment.url, 'success')
  same %w[success], BEN.deployment_statuses(deployment.url).map(&:state)
  ADA.protect_branch(REPO, 'main', enforce_admins: true, required_pull_request_reviews: { required_approving_review_count: 1 },
                                   required_status_checks: { strict: false, contexts: ['unit'] })
  same %w[unit], ADA.branch_protection(REPO, 'main').required_status_checks.contexts
  refused(Octokit::Conflict) { ADA.create_contents(REPO, 'more.txt', 'More', "More\n") }
  ADA.unprotect_branch(REPO, 'main')
end

chapter 'labels, milestones' do
  ADA.add_label(REPO, 'noise', 'f29513')
  same 'cccccc', ADA.update_label(REPO, 'noise', color: 'cccccc').color
  same 1, ADA.create_milestone(REPO, 'v1').number
end

chapter 'issues, comments, reactions' do
  issue = BEN.create_issue(REPO, 'It rattles', 'Always')
  ADA.add_labels_to_an_issue(REPO, issue.number, ['noise'])
  ADA.replace_all_labels(REPO, issue.number, %w[noise])
  ADA.update_issue(REPO, issue.number, milestone: 1, assignees: ['ada'])
  ADA.add_comment(REPO, issue.number, 'Which wheel, @ben?')
  ADA.lock_issue(REPO, issue.number)
  ADA.unlock_issue(REPO, issue.number)
  ADA.close_issue(REPO, issue.number)
  shown = BEN.issue(REPO, issue.number)
  same ['closed', 1, 'v1', %w[noise]], [shown.state, shown.comments, shown.milestone.title, shown.labels.map(&:name)]
  same 'heart', BEN.create_issue_reaction(REPO, issue.number, 'heart').content
  same ['Which wheel, @ben?'], BEN.issue_comments(REPO, issue.number).map(&:body)
  refused(Octokit::UnprocessableEntity) { BEN.create_issue(REPO, '') }
end

chapter 'pull requests, reviews' do
  ADA.create_ref(REPO, 'heads/quiet', BEN.ref(REPO, 'heads/main').object.sha)
  ADA.create_contents(REPO, 'oil.txt', 'Add oil', "Oil\n", branch: 'quiet')
  pull = ADA.create_pull_request(REPO, 'main', 'quiet', 'Oil it', 'Fixes #1')
  same %w[oil.txt], BEN.pull_request_files(REPO, pull.number).map(&:filename)
  BEN.create_pull_request_review(REPO, pull.number, body: 'Good', event: 'COMMENT')
  same %w[COMMENTED], ADA.pull_request_reviews(REPO, pull.number).map(&:state)
  same true, ADA.merge_pull_request(REPO, pull.number, '', merge_method: 'squash').merged
  same true, BEN.pull_merged?(REPO, pull.number)
end

chapter 'releases' do
  release = ADA.create_release(REPO, 'v1.0', name: 'One')
  same release.id, BEN.latest_release(REPO).id
  ADA.update_release(release.url, name: 'One!')
  same %w[One!], BEN.releases(REPO).map(&:name)
end

chapter 'git data, tags, archives' do
  parent = BEN.branch(REPO, 'main').commit.sha
  wheel = { path: 'parts/wheel', mode: '100644', type: 'blob', content: "Brass\n" }
  tree = ADA.create_tree(REPO, [wheel], base_tree: parent)
  commit = ADA.create_commit(REPO, 'Add a wheel', tree.sha, [parent])
  ADA.update_ref(REPO, 'heads/main', commit.sha)
  same 'Add a wheel', BEN.commits(REPO).first.commit.message
  same "Brass\n", BEN.contents(REPO, path: 'parts/wheel', accept: 'application/vnd.github.v3.raw')
  same %w[v1.0], BEN.tags(REPO).map(&:name)
  same true, BEN.archive_link(REPO, ref: 'v1.0').start_with?('http')
end

chapter 'stars, watching, followers, forks' do
  same true, BEN.star(REPO)
  same true, BEN.starred?(REPO)
  same %w[ben], ADA.stargazers(REPO).map(&:login)
  same true, BEN.update_subscription(REPO, subscribed: true).subscribed
  same true, BEN.follow('ada')
  same %w[ben], ADA.followers.map(&:login)
  same 'ben/engine', BEN.fork(REPO).full_name
end

chapter 'notifications, timelines' do
  eventually { same true, BEN.notifications.map { |thread| thread.subject.title }.include?('It rattles') }
  eventually do
    BEN.mark_notifications_as_read
    same [], BEN.notifications
  end
  same true, BEN.repository_events(REPO).map(&:type).include?('WatchEvent')
end

chapter 'webhooks, collaborators' do
  hook = ADA.create_hook(REPO, 'web', { url: 'http://127.0.0.1:9999/hook', content_type: 'json' }, events: ['push'])
  same %w[push], ADA.hook(REPO, hook.id).events
  same true, ADA.remove_hook(REPO, hook.id)
  invitation = ADA.invite_user_to_repository(REPO, 'ben')
  # accept_repository_invitation asks for /user/… of the host, without the path of the endpoint.
  BEN.patch("user/repository_invitations/#{invitation.id}")
  same true, ADA.collaborator?(REPO, 'ben')
end

chapter 'pagination' do
  5.times { |number| ADA.create_issue(REPO, "Task #{number}", nil, labels: 'task') }
  pages = Octokit::Client.new(access_token: ENV.fetch('BEN'), auto_paginate: true, per_page: 2)
  same %w[4 3 2 1 0], pages.list_issues(REPO, labels: 'task').map { |issue| issue.title[-1] }
  BEN.list_issues(REPO, labels: 'task', per_page: 2)
  same 2, BEN.last_response.rels[:next].get.data.length
end

chapter 'search' do
  same ['It rattles'], BEN.search_issues("rattles repo:#{REPO} is:closed").items.map(&:title)
  same [REPO], BEN.search_repositories('engine user:ada').items.map(&:full_name)
  same %w[ada], BEN.search_users('ada').items.map(&:login)
end

chapter 'rate limit, emails, errors' do
  same true, ADA.rate_limit!.limit.positive?
  same %w[ada@example.com], ADA.emails.map(&:email)
  refused(Octokit::NotFound) { BEN.repository('ada/nothing') }
  refused(Octokit::Unauthorized) { Octokit::Client.new(access_token: 'wrong').user }
end
