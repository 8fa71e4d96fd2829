/** The names of what an import left out or changed, each with its singular. */
export const singularNotes = {
  'branches that are no commits': 'branch that is no commit',
  'changes outside of branches and tags': 'change outside of branches and tags',
  'changesets before 1970': 'changeset before 1970',
  'contents that the source no longer has': 'content that the source no longer has',
  'deleted branches and tags': 'deleted branch or tag',
  'empty folders': 'empty folder',
  'external definitions': 'external definition',
  'files with svn:eol-style': 'file with svn:eol-style',
  'files with other line ends than svn:eol-style asks for': 'file with other line ends than svn:eol-style asks for',
  'files with svn:keywords': 'file with svn:keywords',
  'files without their beginning': 'file without its beginning',
  'files that are folders too': 'file that is a folder too',
  'files with names that git refuses': 'file with a name that git refuses',
  'further heads of branches': 'further head of a branch',
  'ignore lists left out for a .gitignore of the source': 'ignore list left out for a .gitignore of the source',
  'ignore lists outside of branches and tags': 'ignore list outside of branches and tags',
  'ignore lists turned into .gitignore': 'ignore list turned into .gitignore',
  'large files that the source does not give': 'large file that the source does not give',
  'lists of attributes left out for a .gitattributes of the source':
    'list of attributes left out for a .gitattributes of the source',
  'merges of single changes': 'merge of single changes',
  'messages not in UTF-8': 'message not in UTF-8',
  'paths that git cannot keep': 'path that git cannot keep',
  'paths that git refuses': 'path that git refuses',
  'refs with unusable names': 'ref with an unusable name',
} as const

export type Note = keyof typeof singularNotes

/** How many of each. */
export type Notes = Partial<Record<Note, number>>
