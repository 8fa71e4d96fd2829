import type { History } from '#test/imports/svn-dump.ts'
import { tellStandard } from '#test/imports/svn-repository.ts'

/** Subversion histories in which converters lose something, by name. */
export const oddRepositories: Record<string, (history: History) => void> = {
  'empty branches'(history) {
    const { folder, add, copy, commit, head } = history
    tellStandard(history)
    folder('branches/empty')
    commit('An empty folder')
    copy('branches/empty', head(), 'branches/copy')
    commit('A copy of it')
    copy('branches/empty', head(), 'branches/filled')
    add('branches/filled/b.txt', 'b\n')
    commit('A copy with a file')
    add('branches/copy/late.txt', 'late\n')
    commit('A file at last')
  },

  'plain folders'(history) {
    const { folder, add, copy, commit, head } = history
    tellStandard(history)
    folder('branches/1.0')
    add('branches/1.0/file', 'one\n')
    commit('A branch without a copy')
    add('branches/loose.txt', 'beside the branches\n')
    commit('A file among the branches')
    folder('branches/group')
    copy('trunk', head(), 'branches/group/inner')
    commit('A folder of branches')
    add('branches/group/readme.txt', 'about the group\n')
    commit('A file in a folder of branches')
  },

  'replaced branches'(history) {
    const { change, remove, copy, commit, head } = history
    tellStandard(history)
    copy('trunk', head(), 'branches/x')
    change('branches/x/a.txt', 'x\n')
    commit('A branch')
    remove('branches/x')
    copy('trunk', head(), 'branches/x')
    commit('Dropped and added again')
    change('branches/x/a.txt', 'y\n')
    commit('Work')
    copy('trunk', head(), 'branches/x', { replace: true })
    commit('Replaced')
    remove('trunk')
    copy('branches/x', head(), 'trunk')
    remove('branches/x')
    commit('A branch becomes the trunk')
  },

  'deleted and merged'(history) {
    const { change, describe, remove, copy, commit, head } = history
    tellStandard(history)
    for (const name of ['merged', 'lost']) copy('trunk', head(), `branches/${name}`)
    commit('Branches')
    for (const name of ['merged', 'lost']) change(`branches/${name}/a.txt`, `${name}\n`)
    commit('Work')
    change('trunk/a.txt', 'merged\n')
    describe('trunk', 'dir', { 'svn:mergeinfo': '/branches/merged:2-3' })
    commit('Merge')
    for (const name of ['merged', 'lost']) remove(`branches/${name}`)
    commit('Clean up')
  },

  'late layout'({ folder, add, change, remove, copy, commit, head }) {
    add('a.txt', 'a\n')
    folder('src')
    add('src/b.txt', 'b\n')
    commit('No layout')
    change('a.txt', 'b\n')
    commit('Work')
    for (const path of ['trunk', 'branches', 'tags']) folder(path)
    commit('A layout')
    copy('src', head(), 'trunk/src')
    copy('a.txt', head(), 'trunk/a.txt', { kind: 'file' })
    remove('src')
    remove('a.txt')
    commit('Moved into the trunk')
    change('trunk/a.txt', 'c\n')
    commit('Work')
  },

  'moved branches folder'(history) {
    const { change, copy, remove, commit, head } = history
    tellStandard(history)
    copy('trunk', head(), 'branches/one')
    change('branches/one/a.txt', 'one\n')
    commit('A branch')
    copy('branches', head(), 'branch')
    remove('branches')
    commit('Renamed')
    change('branch/one/a.txt', 'two\n')
    commit('Work')
  },

  'trunk among others'(history) {
    const { folder, add, change, copy, remove, commit, head } = history
    tellStandard(history)
    folder('www')
    add('www/index.html', 'home\n')
    folder('vendor')
    commit('Folders beside the trunk')
    copy('trunk', head(), 'vendor/lib')
    commit('A copy beside the branches')
    change('vendor/lib/a.txt', 'patched\n')
    commit('A patch')
    copy('vendor/lib', head(), 'branches/lib')
    commit('A branch of it')
    remove('www')
    commit('Less')
  },

  'files for branches'(history) {
    const { add, change, copy, remove, replace, commit, head } = history
    tellStandard(history)
    add('branches/x', 'a file among the branches\n')
    commit('A file')
    remove('branches/x')
    copy('trunk', head(), 'branches/x')
    commit('A branch of the same name')
    change('branches/x/a.txt', 'x\n')
    commit('Work')
    copy('trunk', head(), 'branches/y')
    remove('branches/x')
    commit('Deleted')
    replace('branches/y', 'a file again\n')
    commit('A branch becomes a file')
  },

  'branch over branches'(history) {
    const { folder, change, copy, commit, head } = history
    tellStandard(history)
    folder('branches/group')
    copy('trunk', head(), 'branches/group/inner')
    change('branches/group/inner/a.txt', 'inner\n')
    commit('A branch in a folder')
    copy('trunk', head(), 'branches/group', { replace: true })
    commit('The folder becomes a branch')
    change('branches/group/a.txt', 'group\n')
    commit('Work')
  },

  'two projects'({ folder, add, change, copy, commit, head }) {
    for (const name of ['one', 'two']) {
      for (const path of [name, `${name}/trunk`, `${name}/branches`]) folder(path)
      add(`${name}/trunk/a.txt`, `${name}\n`)
    }
    commit('Two projects')
    copy('one/trunk', head(), 'two/branches/from-one')
    commit('A branch of another project')
    change('two/branches/from-one/a.txt', 'changed\n')
    add('one/readme.txt', 'beside the trunk\n')
    commit('Work')
  },

  'properties outside'(history) {
    const { add, describe, commit } = history
    tellStandard(history)
    add('readme.txt', 'a\n')
    commit('Outside')
    describe('readme.txt', 'file', { 'svn:eol-style': 'native' })
    commit('Its properties')
  },
}

/** Subversion histories of several projects, by name. */
export const repositoriesOfProjects: Record<string, (history: History) => void> = {
  'projects in folders'({ folder, add, change, copy, remove, commit, head }) {
    for (const name of ['one', 'libs', 'libs/two', 'old']) folder(name)
    for (const name of ['one', 'libs/two', 'old']) {
      for (const path of ['trunk', 'branches', 'tags']) folder(`${name}/${path}`)
      add(`${name}/trunk/a.txt`, `${name}\n`)
    }
    add('readme.txt', 'about all\n')
    add('one/notes.txt', 'beside the trunk\n')
    commit('Begin')
    copy('one/trunk', head(), 'libs/two/branches/from-one')
    change('libs/two/branches/from-one/a.txt', 'changed\n')
    copy('libs/two/trunk', head(), 'libs/two/tags/v1')
    commit('A branch of another project')
    change('one/trunk/a.txt', 'again\n')
    commit('Work in the project that was copied')
    folder('attic')
    add('attic/x.txt', 'x\n')
    commit('A folder')
    for (const path of ['three', 'three/branches']) folder(path)
    copy('attic', head(), 'three/trunk')
    change('three/trunk/x.txt', 'y\n')
    commit('It becomes a project')
    change('attic/x.txt', 'z\n')
    commit('It is changed once more')
    remove('attic')
    commit('It is gone')
    folder('one/trunk/.git')
    add('one/trunk/.git/config', 'x\n')
    copy('one/trunk', head(), 'one/branches/lost')
    change('one/branches/lost/a.txt', 'lost\n')
    change('readme.txt', 'about both\n')
    change('old/trunk/a.txt', 'last\n')
    commit('More')
    remove('one/branches/lost')
    remove('old')
    commit('A project and a branch are deleted')
  },

  'projects in the trunk'({ folder, add, change, copy, remove, describe, commit, head }) {
    for (const path of ['trunk', 'branches', 'tags', 'trunk/one', 'trunk/two']) folder(path)
    for (const name of ['one', 'two']) add(`trunk/${name}/a.txt`, `${name}\n`)
    add('trunk/Makefile', 'all:\n')
    commit('Begin')
    copy('trunk', head(), 'branches/x')
    commit('A branch of all')
    change('branches/x/one/a.txt', 'x\n')
    change('branches/x/Makefile', 'x:\n')
    commit('Work on it')
    folder('branches/y')
    copy('trunk/two', head(), 'branches/y/two')
    change('branches/y/two/a.txt', 'y\n')
    commit('A branch of one project')
    copy('trunk/one', head(), 'branches/loose')
    change('branches/loose/a.txt', 'loose\n')
    commit('A branch without the name of its project')
    copy('trunk', head(), 'tags/v1')
    commit('A tag of all')
    copy('trunk/one', head(), 'trunk/three')
    change('trunk/three/a.txt', 'three\n')
    commit('A project is split off')
    change('trunk/one/a.txt', 'x\n')
    describe('trunk/one', 'dir', { 'svn:mergeinfo': '/branches/x/one:2-3' })
    commit('A merge')
    remove('branches/x')
    commit('Clean up')
    add('trunk/two/b.txt', 'b\n')
    commit('Work')
  },
}
