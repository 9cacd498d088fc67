// @ts-nocheck: generated from schemas/*.schema.json by scripts/generate-validators.mjs; never edited by hand.
/** `schemas/cluster.schema.json`, to look descriptions up. */
export const clusterSchema = {
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "$id": "https://meshwright.dev/schemas/cluster.schema.json",
 "title": "ClusterSpec",
 "description": "The Macs of one rack, the Thunderbolt cables between them, and how they should be. Order has no meaning anywhere in this file.",
 "type": "object",
 "additionalProperties": false,
 "required": [
  "schema",
  "name",
  "nodes"
 ],
 "properties": {
  "schema": {
   "description": "Version of this file's format; 1 is the only one.",
   "const": 1
  },
  "name": {
   "description": "What this rack is called in every report.",
   "$ref": "#/$defs/name",
   "examples": [
    "studio-rack"
   ]
  },
  "ssh": {
   "description": "How nodes are reached, unless a node says otherwise. What is not said here comes from your ssh_config (asked with `ssh -G`).",
   "type": "object",
   "additionalProperties": false,
   "properties": {
    "user": {
     "$ref": "#/$defs/user"
    },
    "port": {
     "$ref": "#/$defs/port"
    },
    "identityFile": {
     "$ref": "#/$defs/identityFile"
    }
   }
  },
  "macos": {
   "description": "The macOS version that the rack should run.",
   "type": "object",
   "additionalProperties": false,
   "properties": {
    "version": {
     "description": "The macOS version that every node should run, as text in quotes: without them 26.10 is the number 26.1. Two or three numbers.",
     "type": "string",
     "pattern": "^[1-9][0-9]{0,2}(\\.(0|[1-9][0-9]{0,2})){1,2}$",
     "examples": [
      "26.5",
      "26.4.1"
     ],
     "maxLength": 11
    },
    "accept": {
     "description": "The versions that are usable, as a range: comparisons that must all hold, `||` between alternatives. A node outside of it is wrong.",
     "type": "string",
     "minLength": 1,
     "maxLength": 256,
     "examples": [
      ">=26.4 <26.6"
     ],
     "pattern": "^[0-9xX*.<>=~^| -]+$"
    }
   }
  },
  "power": {
   "description": "Power settings on mains. A sleeping node cannot be reached over Thunderbolt (Apple TN3205).",
   "type": "object",
   "additionalProperties": false,
   "properties": {
    "sleep": {
     "description": "When the node may sleep: `never`, or after this many minutes, 1 to 180.",
     "oneOf": [
      {
       "const": "never"
      },
      {
       "type": "integer",
       "minimum": 1,
       "maximum": 180
      }
     ],
     "examples": [
      "never",
      30
     ]
    },
    "restartAfterPowerLoss": {
     "description": "Whether the node starts by itself when power returns (pmset autorestart): true or false.",
     "type": "boolean"
    }
   }
  },
  "system": {
   "description": "Settings of macOS that serving large models needs.",
   "type": "object",
   "additionalProperties": false,
   "properties": {
    "wiredLimit": {
     "description": "How much memory the GPU may wire: `auto` (memory minus the larger of 8 GiB and 6.25 %), `default` (what macOS does by itself), or a size such as 480GiB.",
     "oneOf": [
      {
       "enum": [
        "auto",
        "default"
       ]
      },
      {
       "$ref": "#/$defs/size"
      }
     ],
     "examples": [
      "auto",
      "480GiB"
     ]
    },
    "fileVault": {
     "description": "Whether FileVault must be enabled or disabled. An encrypted node stays locked after every reboot until somebody unlocks it.",
     "enum": [
      "any",
      "enabled",
      "disabled"
     ]
    }
   }
  },
  "nodes": {
   "description": "The Macs, by name.",
   "type": "object",
   "minProperties": 1,
   "maxProperties": 256,
   "propertyNames": {
    "$ref": "#/$defs/name"
   },
   "additionalProperties": {
    "$ref": "#/$defs/node"
   }
  },
  "thunderbolt": {
   "description": "The cables, and what runs over them.",
   "type": "object",
   "additionalProperties": false,
   "properties": {
    "bridge": {
     "description": "What should become of macOS's Thunderbolt Bridge. A bridged port can do no RDMA, and three bridged Macs in a ring take the office network down.",
     "enum": [
      "remove",
      "keep"
     ]
    },
    "rdma": {
     "description": "auto: as placements need it. required: every node with a link must have RDMA enabled.",
     "enum": [
      "auto",
      "required"
     ]
    },
    "addressing": {
     "description": "Addresses of the links.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "pool": {
       "description": "The private IPv4 network from which each link gets a /30, as its first address and a prefix length. It must not overlap any network that a node sees.",
       "type": "string",
       "pattern": "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$",
       "examples": [
        "10.77.0.0/24"
       ],
       "maxLength": 18
      }
     }
    },
    "avoid": {
     "description": "Receptacles to warn about, besides those that meshwright itself knows. A number means that receptacle of every node.",
     "type": "array",
     "maxItems": 1024,
     "items": {
      "description": "A receptacle of every node, 1 to 16, or one receptacle of one node, such as studio-1:2.",
      "oneOf": [
       {
        "type": "integer",
        "minimum": 1,
        "maximum": 16
       },
       {
        "$ref": "#/$defs/linkEnd"
       }
      ]
     },
     "examples": [
      [
       1,
       "studio-2:6"
      ]
     ]
    },
    "links": {
     "description": "One line per cable: which receptacle of which node goes to which. Receptacles are numbered as macOS prints them.",
     "type": "array",
     "maxItems": 1024,
     "items": {
      "type": "string",
      "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]? *<-> *[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$",
      "examples": [
       "studio-1:2 <-> studio-2:2"
      ],
      "description": "One cable, as node:receptacle <-> node:receptacle, receptacles counted from 1.",
      "maxLength": 160
     }
    }
   }
  }
 },
 "$defs": {
  "name": {
   "description": "A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.",
   "type": "string",
   "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
   "maxLength": 63
  },
  "user": {
   "description": "The account to log in with: letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 32 characters.",
   "type": "string",
   "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,31}$",
   "maxLength": 32,
   "examples": [
    "mesh"
   ]
  },
  "port": {
   "description": "The TCP port of sshd, 1 to 65535.",
   "type": "integer",
   "minimum": 1,
   "maximum": 65535
  },
  "identityFile": {
   "description": "A private key file on this machine; `~` is your home folder, a relative path starts at the cluster file. It does not begin with a dash.",
   "type": "string",
   "minLength": 1,
   "maxLength": 1024,
   "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$",
   "examples": [
    "~/.ssh/mesh_ed25519"
   ]
  },
  "size": {
   "description": "A size as a whole number with GB or GiB directly after it, such as 512GB.",
   "type": "string",
   "pattern": "^[1-9][0-9]{0,5}(GB|GiB)$",
   "maxLength": 9
  },
  "linkEnd": {
   "description": "One receptacle of one node, as node:receptacle.",
   "type": "string",
   "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$",
   "maxLength": 66
  },
  "host": {
   "description": "A host name, an IPv4 address, or an IPv6 address with or without a zone, such as studio-1.lan, 10.0.0.11 or fe80::1%en0. No user, no port.",
   "type": "string",
   "maxLength": 253,
   "pattern": "^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$",
   "examples": [
    "studio-1.lan"
   ]
  },
  "node": {
   "description": "One Mac.",
   "type": "object",
   "additionalProperties": false,
   "required": [
    "host"
   ],
   "properties": {
    "host": {
     "$ref": "#/$defs/host"
    },
    "user": {
     "$ref": "#/$defs/user"
    },
    "port": {
     "$ref": "#/$defs/port"
    },
    "identityFile": {
     "$ref": "#/$defs/identityFile"
    },
    "hardware": {
     "description": "Which Mac must stand there. A node that turns out to be another one is wrong.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "model": {
       "description": "Apple's model identifier, as `sysctl hw.model` prints it, such as Mac15,14.",
       "type": "string",
       "pattern": "^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$",
       "examples": [
        "Mac15,14"
       ],
       "maxLength": 32
      },
      "memory": {
       "description": "The memory as Apple's label has it: 512GB is 2^39 bytes.",
       "$ref": "#/$defs/size",
       "examples": [
        "512GB"
       ]
      },
      "serial": {
       "description": "The serial number: 6 to 20 capital letters and digits.",
       "type": "string",
       "pattern": "^[A-Z0-9]{6,20}$",
       "examples": [
        "ABC123DEF4"
       ]
      }
     }
    },
    "labels": {
     "description": "Words to select nodes by: -l role=worker.",
     "type": "object",
     "maxProperties": 64,
     "propertyNames": {
      "$ref": "#/$defs/name"
     },
     "additionalProperties": {
      "type": "string",
      "pattern": "^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
      "description": "A word of letters, digits, `_`, `.` and `-`, at most 63 characters.",
      "maxLength": 63
     },
     "examples": [
      {
       "role": "worker"
      }
     ]
    }
   }
  }
 }
};
/** `schemas/lock.schema.json`, to look descriptions up. */
export const lockSchema = {
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "$id": "https://meshwright.dev/schemas/lock.schema.json",
 "title": "ClusterLockFile",
 "description": "What was resolved once for a cluster file and is committed beside it. meshwright writes it; people review it.",
 "type": "object",
 "additionalProperties": false,
 "required": [
  "lock"
 ],
 "properties": {
  "lock": {
   "description": "Version of this file's format; 1 is the only one.",
   "const": 1
  },
  "hostKeys": {
   "description": "The pinned host keys, by address as in known_hosts: `host`, or `[host]:port` for another port than 22.",
   "type": "object",
   "maxProperties": 1024,
   "propertyNames": {
    "description": "An address as known_hosts has it: a host, or [host]:port.",
    "type": "string",
    "maxLength": 300,
    "pattern": "^([A-Za-z0-9:][A-Za-z0-9:._%-]*|\\[[A-Za-z0-9:][A-Za-z0-9:._%-]*\\]:[1-9][0-9]{0,4})$"
   },
   "additionalProperties": {
    "description": "One to eight keys of this address, each of another type.",
    "type": "array",
    "minItems": 1,
    "maxItems": 8,
    "items": {
     "description": "A key type and its base64, as a line of known_hosts has them.",
     "type": "string",
     "maxLength": 8192,
     "pattern": "^[a-z0-9][a-z0-9@.-]{1,63} [A-Za-z0-9+/]{16,}={0,2}$"
    }
   }
  }
 }
};
export const validateCluster = validate20;const schema31 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://meshwright.dev/schemas/cluster.schema.json","title":"ClusterSpec","description":"The Macs of one rack, the Thunderbolt cables between them, and how they should be. Order has no meaning anywhere in this file.","type":"object","additionalProperties":false,"required":["schema","name","nodes"],"properties":{"schema":{"description":"Version of this file's format; 1 is the only one.","const":1},"name":{"description":"What this rack is called in every report.","$ref":"#/$defs/name","examples":["studio-rack"]},"ssh":{"description":"How nodes are reached, unless a node says otherwise. What is not said here comes from your ssh_config (asked with `ssh -G`).","type":"object","additionalProperties":false,"properties":{"user":{"$ref":"#/$defs/user"},"port":{"$ref":"#/$defs/port"},"identityFile":{"$ref":"#/$defs/identityFile"}}},"macos":{"description":"The macOS version that the rack should run.","type":"object","additionalProperties":false,"properties":{"version":{"description":"The macOS version that every node should run, as text in quotes: without them 26.10 is the number 26.1. Two or three numbers.","type":"string","pattern":"^[1-9][0-9]{0,2}(\\.(0|[1-9][0-9]{0,2})){1,2}$","examples":["26.5","26.4.1"],"maxLength":11},"accept":{"description":"The versions that are usable, as a range: comparisons that must all hold, `||` between alternatives. A node outside of it is wrong.","type":"string","minLength":1,"maxLength":256,"examples":[">=26.4 <26.6"],"pattern":"^[0-9xX*.<>=~^| -]+$"}}},"power":{"description":"Power settings on mains. A sleeping node cannot be reached over Thunderbolt (Apple TN3205).","type":"object","additionalProperties":false,"properties":{"sleep":{"description":"When the node may sleep: `never`, or after this many minutes, 1 to 180.","oneOf":[{"const":"never"},{"type":"integer","minimum":1,"maximum":180}],"examples":["never",30]},"restartAfterPowerLoss":{"description":"Whether the node starts by itself when power returns (pmset autorestart): true or false.","type":"boolean"}}},"system":{"description":"Settings of macOS that serving large models needs.","type":"object","additionalProperties":false,"properties":{"wiredLimit":{"description":"How much memory the GPU may wire: `auto` (memory minus the larger of 8 GiB and 6.25 %), `default` (what macOS does by itself), or a size such as 480GiB.","oneOf":[{"enum":["auto","default"]},{"$ref":"#/$defs/size"}],"examples":["auto","480GiB"]},"fileVault":{"description":"Whether FileVault must be enabled or disabled. An encrypted node stays locked after every reboot until somebody unlocks it.","enum":["any","enabled","disabled"]}}},"nodes":{"description":"The Macs, by name.","type":"object","minProperties":1,"maxProperties":256,"propertyNames":{"$ref":"#/$defs/name"},"additionalProperties":{"$ref":"#/$defs/node"}},"thunderbolt":{"description":"The cables, and what runs over them.","type":"object","additionalProperties":false,"properties":{"bridge":{"description":"What should become of macOS's Thunderbolt Bridge. A bridged port can do no RDMA, and three bridged Macs in a ring take the office network down.","enum":["remove","keep"]},"rdma":{"description":"auto: as placements need it. required: every node with a link must have RDMA enabled.","enum":["auto","required"]},"addressing":{"description":"Addresses of the links.","type":"object","additionalProperties":false,"properties":{"pool":{"description":"The private IPv4 network from which each link gets a /30, as its first address and a prefix length. It must not overlap any network that a node sees.","type":"string","pattern":"^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$","examples":["10.77.0.0/24"],"maxLength":18}}},"avoid":{"description":"Receptacles to warn about, besides those that meshwright itself knows. A number means that receptacle of every node.","type":"array","maxItems":1024,"items":{"description":"A receptacle of every node, 1 to 16, or one receptacle of one node, such as studio-1:2.","oneOf":[{"type":"integer","minimum":1,"maximum":16},{"$ref":"#/$defs/linkEnd"}]},"examples":[[1,"studio-2:6"]]},"links":{"description":"One line per cable: which receptacle of which node goes to which. Receptacles are numbered as macOS prints them.","type":"array","maxItems":1024,"items":{"type":"string","pattern":"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]? *<-> *[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$","examples":["studio-1:2 <-> studio-2:2"],"description":"One cable, as node:receptacle <-> node:receptacle, receptacles counted from 1.","maxLength":160}}}}},"$defs":{"name":{"description":"A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.","type":"string","pattern":"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$","maxLength":63},"user":{"description":"The account to log in with: letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 32 characters.","type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_.-]{0,31}$","maxLength":32,"examples":["mesh"]},"port":{"description":"The TCP port of sshd, 1 to 65535.","type":"integer","minimum":1,"maximum":65535},"identityFile":{"description":"A private key file on this machine; `~` is your home folder, a relative path starts at the cluster file. It does not begin with a dash.","type":"string","minLength":1,"maxLength":1024,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$","examples":["~/.ssh/mesh_ed25519"]},"size":{"description":"A size as a whole number with GB or GiB directly after it, such as 512GB.","type":"string","pattern":"^[1-9][0-9]{0,5}(GB|GiB)$","maxLength":9},"linkEnd":{"description":"One receptacle of one node, as node:receptacle.","type":"string","pattern":"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$","maxLength":66},"host":{"description":"A host name, an IPv4 address, or an IPv6 address with or without a zone, such as studio-1.lan, 10.0.0.11 or fe80::1%en0. No user, no port.","type":"string","maxLength":253,"pattern":"^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$","examples":["studio-1.lan"]},"node":{"description":"One Mac.","type":"object","additionalProperties":false,"required":["host"],"properties":{"host":{"$ref":"#/$defs/host"},"user":{"$ref":"#/$defs/user"},"port":{"$ref":"#/$defs/port"},"identityFile":{"$ref":"#/$defs/identityFile"},"hardware":{"description":"Which Mac must stand there. A node that turns out to be another one is wrong.","type":"object","additionalProperties":false,"properties":{"model":{"description":"Apple's model identifier, as `sysctl hw.model` prints it, such as Mac15,14.","type":"string","pattern":"^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$","examples":["Mac15,14"],"maxLength":32},"memory":{"description":"The memory as Apple's label has it: 512GB is 2^39 bytes.","$ref":"#/$defs/size","examples":["512GB"]},"serial":{"description":"The serial number: 6 to 20 capital letters and digits.","type":"string","pattern":"^[A-Z0-9]{6,20}$","examples":["ABC123DEF4"]}}},"labels":{"description":"Words to select nodes by: -l role=worker.","type":"object","maxProperties":64,"propertyNames":{"$ref":"#/$defs/name"},"additionalProperties":{"type":"string","pattern":"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$","description":"A word of letters, digits, `_`, `.` and `-`, at most 63 characters.","maxLength":63},"examples":[{"role":"worker"}]}}}}};const schema32 = {"description":"A name of lower-case letters, digits and dashes, at most 63 characters, with a letter or digit first and last.","type":"string","pattern":"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$","maxLength":63};const schema33 = {"description":"The account to log in with: letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 32 characters.","type":"string","pattern":"^[A-Za-z_][A-Za-z0-9_.-]{0,31}$","maxLength":32,"examples":["mesh"]};const schema34 = {"description":"The TCP port of sshd, 1 to 65535.","type":"integer","minimum":1,"maximum":65535};const schema35 = {"description":"A private key file on this machine; `~` is your home folder, a relative path starts at the cluster file. It does not begin with a dash.","type":"string","minLength":1,"maxLength":1024,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$","examples":["~/.ssh/mesh_ed25519"]};const schema36 = {"description":"A size as a whole number with GB or GiB directly after it, such as 512GB.","type":"string","pattern":"^[1-9][0-9]{0,5}(GB|GiB)$","maxLength":9};const schema45 = {"description":"One receptacle of one node, as node:receptacle.","type":"string","pattern":"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$","maxLength":66};const func0 = Object.prototype.hasOwnProperty;const pattern4 = new RegExp("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "u");const pattern5 = new RegExp("^[A-Za-z_][A-Za-z0-9_.-]{0,31}$", "u");const pattern6 = new RegExp("^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$", "u");const pattern7 = new RegExp("^[1-9][0-9]{0,2}(\\.(0|[1-9][0-9]{0,2})){1,2}$", "u");const pattern8 = new RegExp("^[0-9xX*.<>=~^| -]+$", "u");const pattern9 = new RegExp("^[1-9][0-9]{0,5}(GB|GiB)$", "u");const pattern19 = new RegExp("^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$", "u");const pattern20 = new RegExp("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$", "u");const pattern21 = new RegExp("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]? *<-> *[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$", "u");const schema38 = {"description":"One Mac.","type":"object","additionalProperties":false,"required":["host"],"properties":{"host":{"$ref":"#/$defs/host"},"user":{"$ref":"#/$defs/user"},"port":{"$ref":"#/$defs/port"},"identityFile":{"$ref":"#/$defs/identityFile"},"hardware":{"description":"Which Mac must stand there. A node that turns out to be another one is wrong.","type":"object","additionalProperties":false,"properties":{"model":{"description":"Apple's model identifier, as `sysctl hw.model` prints it, such as Mac15,14.","type":"string","pattern":"^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$","examples":["Mac15,14"],"maxLength":32},"memory":{"description":"The memory as Apple's label has it: 512GB is 2^39 bytes.","$ref":"#/$defs/size","examples":["512GB"]},"serial":{"description":"The serial number: 6 to 20 capital letters and digits.","type":"string","pattern":"^[A-Z0-9]{6,20}$","examples":["ABC123DEF4"]}}},"labels":{"description":"Words to select nodes by: -l role=worker.","type":"object","maxProperties":64,"propertyNames":{"$ref":"#/$defs/name"},"additionalProperties":{"type":"string","pattern":"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$","description":"A word of letters, digits, `_`, `.` and `-`, at most 63 characters.","maxLength":63},"examples":[{"role":"worker"}]}}};const schema39 = {"description":"A host name, an IPv4 address, or an IPv6 address with or without a zone, such as studio-1.lan, 10.0.0.11 or fe80::1%en0. No user, no port.","type":"string","maxLength":253,"pattern":"^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$","examples":["studio-1.lan"]};const pattern11 = new RegExp("^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$", "u");const pattern14 = new RegExp("^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$", "u");const pattern16 = new RegExp("^[A-Z0-9]{6,20}$", "u");const pattern18 = new RegExp("^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$", "u");function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const evaluated0 = validate21.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if((data.host === undefined) || (!(func0.call(data, "host")))){const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "host"},message:"must have required property '"+"host"+"'"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}for(const key0 of Object.keys(data)){if(!((((((key0 === "host") || (key0 === "user")) || (key0 === "port")) || (key0 === "identityFile")) || (key0 === "hardware")) || (key0 === "labels"))){const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}}if(data.host !== undefined && func0.call(data, "host")){let data0 = data.host;if(typeof data0 === "string"){if(data0.length > 253){const err2 = {instancePath:instancePath+"/host",schemaPath:"#/$defs/host/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}if(!pattern11.test(data0)){const err3 = {instancePath:instancePath+"/host",schemaPath:"#/$defs/host/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$"},message:"must match pattern \""+"^([A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?|[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?)$"+"\""};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}}else {const err4 = {instancePath:instancePath+"/host",schemaPath:"#/$defs/host/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}}if(data.user !== undefined && func0.call(data, "user")){let data1 = data.user;if(typeof data1 === "string"){if(data1.length > 32){const err5 = {instancePath:instancePath+"/user",schemaPath:"#/$defs/user/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}if(!pattern5.test(data1)){const err6 = {instancePath:instancePath+"/user",schemaPath:"#/$defs/user/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,31}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_.-]{0,31}$"+"\""};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}}else {const err7 = {instancePath:instancePath+"/user",schemaPath:"#/$defs/user/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}}if(data.port !== undefined && func0.call(data, "port")){let data2 = data.port;if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){const err8 = {instancePath:instancePath+"/port",schemaPath:"#/$defs/port/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}if((typeof data2 == "number") && (isFinite(data2))){if(data2 > 65535 || isNaN(data2)){const err9 = {instancePath:instancePath+"/port",schemaPath:"#/$defs/port/maximum",keyword:"maximum",params:{comparison: "<=", limit: 65535},message:"must be <= 65535"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}if(data2 < 1 || isNaN(data2)){const err10 = {instancePath:instancePath+"/port",schemaPath:"#/$defs/port/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}}}if(data.identityFile !== undefined && func0.call(data, "identityFile")){let data3 = data.identityFile;if(typeof data3 === "string"){if(data3.length > 1024){const err11 = {instancePath:instancePath+"/identityFile",schemaPath:"#/$defs/identityFile/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters"};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}if(data3.length < 1){const err12 = {instancePath:instancePath+"/identityFile",schemaPath:"#/$defs/identityFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err12];}else {vErrors.push(err12);}errors++;}if(!pattern6.test(data3)){const err13 = {instancePath:instancePath+"/identityFile",schemaPath:"#/$defs/identityFile/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$"+"\""};if(vErrors === null){vErrors = [err13];}else {vErrors.push(err13);}errors++;}}else {const err14 = {instancePath:instancePath+"/identityFile",schemaPath:"#/$defs/identityFile/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err14];}else {vErrors.push(err14);}errors++;}}if(data.hardware !== undefined && func0.call(data, "hardware")){let data4 = data.hardware;if(data4 && typeof data4 == "object" && !Array.isArray(data4)){for(const key1 of Object.keys(data4)){if(!(((key1 === "model") || (key1 === "memory")) || (key1 === "serial"))){const err15 = {instancePath:instancePath+"/hardware",schemaPath:"#/properties/hardware/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err15];}else {vErrors.push(err15);}errors++;}}if(data4.model !== undefined && func0.call(data4, "model")){let data5 = data4.model;if(typeof data5 === "string"){if(data5.length > 32){const err16 = {instancePath:instancePath+"/hardware/model",schemaPath:"#/properties/hardware/properties/model/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};if(vErrors === null){vErrors = [err16];}else {vErrors.push(err16);}errors++;}if(!pattern14.test(data5)){const err17 = {instancePath:instancePath+"/hardware/model",schemaPath:"#/properties/hardware/properties/model/pattern",keyword:"pattern",params:{pattern: "^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$"},message:"must match pattern \""+"^[A-Z][A-Za-z]{1,20}[0-9]{1,3},[0-9]{1,3}$"+"\""};if(vErrors === null){vErrors = [err17];}else {vErrors.push(err17);}errors++;}}else {const err18 = {instancePath:instancePath+"/hardware/model",schemaPath:"#/properties/hardware/properties/model/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err18];}else {vErrors.push(err18);}errors++;}}if(data4.memory !== undefined && func0.call(data4, "memory")){let data6 = data4.memory;if(typeof data6 === "string"){if(data6.length > 9){const err19 = {instancePath:instancePath+"/hardware/memory",schemaPath:"#/$defs/size/maxLength",keyword:"maxLength",params:{limit: 9},message:"must NOT have more than 9 characters"};if(vErrors === null){vErrors = [err19];}else {vErrors.push(err19);}errors++;}if(!pattern9.test(data6)){const err20 = {instancePath:instancePath+"/hardware/memory",schemaPath:"#/$defs/size/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,5}(GB|GiB)$"},message:"must match pattern \""+"^[1-9][0-9]{0,5}(GB|GiB)$"+"\""};if(vErrors === null){vErrors = [err20];}else {vErrors.push(err20);}errors++;}}else {const err21 = {instancePath:instancePath+"/hardware/memory",schemaPath:"#/$defs/size/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err21];}else {vErrors.push(err21);}errors++;}}if(data4.serial !== undefined && func0.call(data4, "serial")){let data7 = data4.serial;if(typeof data7 === "string"){if(!pattern16.test(data7)){const err22 = {instancePath:instancePath+"/hardware/serial",schemaPath:"#/properties/hardware/properties/serial/pattern",keyword:"pattern",params:{pattern: "^[A-Z0-9]{6,20}$"},message:"must match pattern \""+"^[A-Z0-9]{6,20}$"+"\""};if(vErrors === null){vErrors = [err22];}else {vErrors.push(err22);}errors++;}}else {const err23 = {instancePath:instancePath+"/hardware/serial",schemaPath:"#/properties/hardware/properties/serial/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err23];}else {vErrors.push(err23);}errors++;}}}else {const err24 = {instancePath:instancePath+"/hardware",schemaPath:"#/properties/hardware/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err24];}else {vErrors.push(err24);}errors++;}}if(data.labels !== undefined && func0.call(data, "labels")){let data8 = data.labels;if(data8 && typeof data8 == "object" && !Array.isArray(data8)){if(Object.keys(data8).length > 64){const err25 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/maxProperties",keyword:"maxProperties",params:{limit: 64},message:"must NOT have more than 64 properties"};if(vErrors === null){vErrors = [err25];}else {vErrors.push(err25);}errors++;}for(const key2 of Object.keys(data8)){const _errs26 = errors;if(typeof key2 === "string"){if(key2.length > 63){const err26 = {instancePath:instancePath+"/labels",schemaPath:"#/$defs/name/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters",propertyName:key2};if(vErrors === null){vErrors = [err26];}else {vErrors.push(err26);}errors++;}if(!pattern4.test(key2)){const err27 = {instancePath:instancePath+"/labels",schemaPath:"#/$defs/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"+"\"",propertyName:key2};if(vErrors === null){vErrors = [err27];}else {vErrors.push(err27);}errors++;}}else {const err28 = {instancePath:instancePath+"/labels",schemaPath:"#/$defs/name/type",keyword:"type",params:{type: "string"},message:"must be string",propertyName:key2};if(vErrors === null){vErrors = [err28];}else {vErrors.push(err28);}errors++;}var valid7 = _errs26 === errors;if(!valid7){const err29 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/propertyNames",keyword:"propertyNames",params:{propertyName: key2},message:"property name must be valid"};if(vErrors === null){vErrors = [err29];}else {vErrors.push(err29);}errors++;}}for(const key3 of Object.keys(data8)){let data9 = data8[key3];if(typeof data9 === "string"){if(data9.length > 63){const err30 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/additionalProperties/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};if(vErrors === null){vErrors = [err30];}else {vErrors.push(err30);}errors++;}if(!pattern18.test(data9)){const err31 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/additionalProperties/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"},message:"must match pattern \""+"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$"+"\""};if(vErrors === null){vErrors = [err31];}else {vErrors.push(err31);}errors++;}}else {const err32 = {instancePath:instancePath+"/labels/" + key3.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/labels/additionalProperties/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err32];}else {vErrors.push(err32);}errors++;}}}else {const err33 = {instancePath:instancePath+"/labels",schemaPath:"#/properties/labels/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err33];}else {vErrors.push(err33);}errors++;}}}else {const err34 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err34];}else {vErrors.push(err34);}errors++;}validate21.errors = vErrors;return errors === 0;}validate21.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){/*# sourceURL="https://meshwright.dev/schemas/cluster.schema.json" */;let vErrors = null;let errors = 0;const evaluated0 = validate20.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if((data.schema === undefined) || (!(func0.call(data, "schema")))){const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "schema"},message:"must have required property '"+"schema"+"'"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}if((data.name === undefined) || (!(func0.call(data, "name")))){const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "name"},message:"must have required property '"+"name"+"'"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}if((data.nodes === undefined) || (!(func0.call(data, "nodes")))){const err2 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "nodes"},message:"must have required property '"+"nodes"+"'"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}for(const key0 of Object.keys(data)){if(!((((((((key0 === "schema") || (key0 === "name")) || (key0 === "ssh")) || (key0 === "macos")) || (key0 === "power")) || (key0 === "system")) || (key0 === "nodes")) || (key0 === "thunderbolt"))){const err3 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}}if(data.schema !== undefined && func0.call(data, "schema")){if(1 !== data.schema){const err4 = {instancePath:instancePath+"/schema",schemaPath:"#/properties/schema/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}}if(data.name !== undefined && func0.call(data, "name")){let data1 = data.name;if(typeof data1 === "string"){if(data1.length > 63){const err5 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/name/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}if(!pattern4.test(data1)){const err6 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"+"\""};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}}else {const err7 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/name/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}}if(data.ssh !== undefined && func0.call(data, "ssh")){let data2 = data.ssh;if(data2 && typeof data2 == "object" && !Array.isArray(data2)){for(const key1 of Object.keys(data2)){if(!(((key1 === "user") || (key1 === "port")) || (key1 === "identityFile"))){const err8 = {instancePath:instancePath+"/ssh",schemaPath:"#/properties/ssh/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}}if(data2.user !== undefined && func0.call(data2, "user")){let data3 = data2.user;if(typeof data3 === "string"){if(data3.length > 32){const err9 = {instancePath:instancePath+"/ssh/user",schemaPath:"#/$defs/user/maxLength",keyword:"maxLength",params:{limit: 32},message:"must NOT have more than 32 characters"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}if(!pattern5.test(data3)){const err10 = {instancePath:instancePath+"/ssh/user",schemaPath:"#/$defs/user/pattern",keyword:"pattern",params:{pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,31}$"},message:"must match pattern \""+"^[A-Za-z_][A-Za-z0-9_.-]{0,31}$"+"\""};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}}else {const err11 = {instancePath:instancePath+"/ssh/user",schemaPath:"#/$defs/user/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}}if(data2.port !== undefined && func0.call(data2, "port")){let data4 = data2.port;if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){const err12 = {instancePath:instancePath+"/ssh/port",schemaPath:"#/$defs/port/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err12];}else {vErrors.push(err12);}errors++;}if((typeof data4 == "number") && (isFinite(data4))){if(data4 > 65535 || isNaN(data4)){const err13 = {instancePath:instancePath+"/ssh/port",schemaPath:"#/$defs/port/maximum",keyword:"maximum",params:{comparison: "<=", limit: 65535},message:"must be <= 65535"};if(vErrors === null){vErrors = [err13];}else {vErrors.push(err13);}errors++;}if(data4 < 1 || isNaN(data4)){const err14 = {instancePath:instancePath+"/ssh/port",schemaPath:"#/$defs/port/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err14];}else {vErrors.push(err14);}errors++;}}}if(data2.identityFile !== undefined && func0.call(data2, "identityFile")){let data5 = data2.identityFile;if(typeof data5 === "string"){if(data5.length > 1024){const err15 = {instancePath:instancePath+"/ssh/identityFile",schemaPath:"#/$defs/identityFile/maxLength",keyword:"maxLength",params:{limit: 1024},message:"must NOT have more than 1024 characters"};if(vErrors === null){vErrors = [err15];}else {vErrors.push(err15);}errors++;}if(data5.length < 1){const err16 = {instancePath:instancePath+"/ssh/identityFile",schemaPath:"#/$defs/identityFile/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err16];}else {vErrors.push(err16);}errors++;}if(!pattern6.test(data5)){const err17 = {instancePath:instancePath+"/ssh/identityFile",schemaPath:"#/$defs/identityFile/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069-][^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$"+"\""};if(vErrors === null){vErrors = [err17];}else {vErrors.push(err17);}errors++;}}else {const err18 = {instancePath:instancePath+"/ssh/identityFile",schemaPath:"#/$defs/identityFile/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err18];}else {vErrors.push(err18);}errors++;}}}else {const err19 = {instancePath:instancePath+"/ssh",schemaPath:"#/properties/ssh/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err19];}else {vErrors.push(err19);}errors++;}}if(data.macos !== undefined && func0.call(data, "macos")){let data6 = data.macos;if(data6 && typeof data6 == "object" && !Array.isArray(data6)){for(const key2 of Object.keys(data6)){if(!((key2 === "version") || (key2 === "accept"))){const err20 = {instancePath:instancePath+"/macos",schemaPath:"#/properties/macos/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err20];}else {vErrors.push(err20);}errors++;}}if(data6.version !== undefined && func0.call(data6, "version")){let data7 = data6.version;if(typeof data7 === "string"){if(data7.length > 11){const err21 = {instancePath:instancePath+"/macos/version",schemaPath:"#/properties/macos/properties/version/maxLength",keyword:"maxLength",params:{limit: 11},message:"must NOT have more than 11 characters"};if(vErrors === null){vErrors = [err21];}else {vErrors.push(err21);}errors++;}if(!pattern7.test(data7)){const err22 = {instancePath:instancePath+"/macos/version",schemaPath:"#/properties/macos/properties/version/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,2}(\\.(0|[1-9][0-9]{0,2})){1,2}$"},message:"must match pattern \""+"^[1-9][0-9]{0,2}(\\.(0|[1-9][0-9]{0,2})){1,2}$"+"\""};if(vErrors === null){vErrors = [err22];}else {vErrors.push(err22);}errors++;}}else {const err23 = {instancePath:instancePath+"/macos/version",schemaPath:"#/properties/macos/properties/version/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err23];}else {vErrors.push(err23);}errors++;}}if(data6.accept !== undefined && func0.call(data6, "accept")){let data8 = data6.accept;if(typeof data8 === "string"){if(data8.length > 256){const err24 = {instancePath:instancePath+"/macos/accept",schemaPath:"#/properties/macos/properties/accept/maxLength",keyword:"maxLength",params:{limit: 256},message:"must NOT have more than 256 characters"};if(vErrors === null){vErrors = [err24];}else {vErrors.push(err24);}errors++;}if(data8.length < 1){const err25 = {instancePath:instancePath+"/macos/accept",schemaPath:"#/properties/macos/properties/accept/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err25];}else {vErrors.push(err25);}errors++;}if(!pattern8.test(data8)){const err26 = {instancePath:instancePath+"/macos/accept",schemaPath:"#/properties/macos/properties/accept/pattern",keyword:"pattern",params:{pattern: "^[0-9xX*.<>=~^| -]+$"},message:"must match pattern \""+"^[0-9xX*.<>=~^| -]+$"+"\""};if(vErrors === null){vErrors = [err26];}else {vErrors.push(err26);}errors++;}}else {const err27 = {instancePath:instancePath+"/macos/accept",schemaPath:"#/properties/macos/properties/accept/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err27];}else {vErrors.push(err27);}errors++;}}}else {const err28 = {instancePath:instancePath+"/macos",schemaPath:"#/properties/macos/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err28];}else {vErrors.push(err28);}errors++;}}if(data.power !== undefined && func0.call(data, "power")){let data9 = data.power;if(data9 && typeof data9 == "object" && !Array.isArray(data9)){for(const key3 of Object.keys(data9)){if(!((key3 === "sleep") || (key3 === "restartAfterPowerLoss"))){const err29 = {instancePath:instancePath+"/power",schemaPath:"#/properties/power/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err29];}else {vErrors.push(err29);}errors++;}}if(data9.sleep !== undefined && func0.call(data9, "sleep")){let data10 = data9.sleep;const _errs29 = errors;let valid8 = false;let passing0 = null;const _errs30 = errors;if("never" !== data10){const err30 = {instancePath:instancePath+"/power/sleep",schemaPath:"#/properties/power/properties/sleep/oneOf/0/const",keyword:"const",params:{allowedValue: "never"},message:"must be equal to constant"};if(vErrors === null){vErrors = [err30];}else {vErrors.push(err30);}errors++;}var _valid0 = _errs30 === errors;if(_valid0){valid8 = true;passing0 = 0;}const _errs31 = errors;if(!(((typeof data10 == "number") && (!(data10 % 1) && !isNaN(data10))) && (isFinite(data10)))){const err31 = {instancePath:instancePath+"/power/sleep",schemaPath:"#/properties/power/properties/sleep/oneOf/1/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err31];}else {vErrors.push(err31);}errors++;}if((typeof data10 == "number") && (isFinite(data10))){if(data10 > 180 || isNaN(data10)){const err32 = {instancePath:instancePath+"/power/sleep",schemaPath:"#/properties/power/properties/sleep/oneOf/1/maximum",keyword:"maximum",params:{comparison: "<=", limit: 180},message:"must be <= 180"};if(vErrors === null){vErrors = [err32];}else {vErrors.push(err32);}errors++;}if(data10 < 1 || isNaN(data10)){const err33 = {instancePath:instancePath+"/power/sleep",schemaPath:"#/properties/power/properties/sleep/oneOf/1/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err33];}else {vErrors.push(err33);}errors++;}}var _valid0 = _errs31 === errors;if(_valid0 && valid8){valid8 = false;passing0 = [passing0, 1];}else {if(_valid0){valid8 = true;passing0 = 1;}}if(!valid8){const err34 = {instancePath:instancePath+"/power/sleep",schemaPath:"#/properties/power/properties/sleep/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err34];}else {vErrors.push(err34);}errors++;}else {errors = _errs29;if(vErrors !== null){if(_errs29){vErrors.length = _errs29;}else {vErrors = null;}}}}if(data9.restartAfterPowerLoss !== undefined && func0.call(data9, "restartAfterPowerLoss")){if(typeof data9.restartAfterPowerLoss !== "boolean"){const err35 = {instancePath:instancePath+"/power/restartAfterPowerLoss",schemaPath:"#/properties/power/properties/restartAfterPowerLoss/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};if(vErrors === null){vErrors = [err35];}else {vErrors.push(err35);}errors++;}}}else {const err36 = {instancePath:instancePath+"/power",schemaPath:"#/properties/power/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err36];}else {vErrors.push(err36);}errors++;}}if(data.system !== undefined && func0.call(data, "system")){let data12 = data.system;if(data12 && typeof data12 == "object" && !Array.isArray(data12)){for(const key4 of Object.keys(data12)){if(!((key4 === "wiredLimit") || (key4 === "fileVault"))){const err37 = {instancePath:instancePath+"/system",schemaPath:"#/properties/system/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err37];}else {vErrors.push(err37);}errors++;}}if(data12.wiredLimit !== undefined && func0.call(data12, "wiredLimit")){let data13 = data12.wiredLimit;const _errs39 = errors;let valid10 = false;let passing1 = null;const _errs40 = errors;if(!((data13 === "auto") || (data13 === "default"))){const err38 = {instancePath:instancePath+"/system/wiredLimit",schemaPath:"#/properties/system/properties/wiredLimit/oneOf/0/enum",keyword:"enum",params:{allowedValues: schema31.properties.system.properties.wiredLimit.oneOf[0].enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err38];}else {vErrors.push(err38);}errors++;}var _valid1 = _errs40 === errors;if(_valid1){valid10 = true;passing1 = 0;}const _errs41 = errors;if(typeof data13 === "string"){if(data13.length > 9){const err39 = {instancePath:instancePath+"/system/wiredLimit",schemaPath:"#/$defs/size/maxLength",keyword:"maxLength",params:{limit: 9},message:"must NOT have more than 9 characters"};if(vErrors === null){vErrors = [err39];}else {vErrors.push(err39);}errors++;}if(!pattern9.test(data13)){const err40 = {instancePath:instancePath+"/system/wiredLimit",schemaPath:"#/$defs/size/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,5}(GB|GiB)$"},message:"must match pattern \""+"^[1-9][0-9]{0,5}(GB|GiB)$"+"\""};if(vErrors === null){vErrors = [err40];}else {vErrors.push(err40);}errors++;}}else {const err41 = {instancePath:instancePath+"/system/wiredLimit",schemaPath:"#/$defs/size/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err41];}else {vErrors.push(err41);}errors++;}var _valid1 = _errs41 === errors;if(_valid1 && valid10){valid10 = false;passing1 = [passing1, 1];}else {if(_valid1){valid10 = true;passing1 = 1;}}if(!valid10){const err42 = {instancePath:instancePath+"/system/wiredLimit",schemaPath:"#/properties/system/properties/wiredLimit/oneOf",keyword:"oneOf",params:{passingSchemas: passing1},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err42];}else {vErrors.push(err42);}errors++;}else {errors = _errs39;if(vErrors !== null){if(_errs39){vErrors.length = _errs39;}else {vErrors = null;}}}}if(data12.fileVault !== undefined && func0.call(data12, "fileVault")){let data14 = data12.fileVault;if(!(((data14 === "any") || (data14 === "enabled")) || (data14 === "disabled"))){const err43 = {instancePath:instancePath+"/system/fileVault",schemaPath:"#/properties/system/properties/fileVault/enum",keyword:"enum",params:{allowedValues: schema31.properties.system.properties.fileVault.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err43];}else {vErrors.push(err43);}errors++;}}}else {const err44 = {instancePath:instancePath+"/system",schemaPath:"#/properties/system/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err44];}else {vErrors.push(err44);}errors++;}}if(data.nodes !== undefined && func0.call(data, "nodes")){let data15 = data.nodes;if(data15 && typeof data15 == "object" && !Array.isArray(data15)){if(Object.keys(data15).length > 256){const err45 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/maxProperties",keyword:"maxProperties",params:{limit: 256},message:"must NOT have more than 256 properties"};if(vErrors === null){vErrors = [err45];}else {vErrors.push(err45);}errors++;}if(Object.keys(data15).length < 1){const err46 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties"};if(vErrors === null){vErrors = [err46];}else {vErrors.push(err46);}errors++;}for(const key5 of Object.keys(data15)){const _errs47 = errors;if(typeof key5 === "string"){if(key5.length > 63){const err47 = {instancePath:instancePath+"/nodes",schemaPath:"#/$defs/name/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters",propertyName:key5};if(vErrors === null){vErrors = [err47];}else {vErrors.push(err47);}errors++;}if(!pattern4.test(key5)){const err48 = {instancePath:instancePath+"/nodes",schemaPath:"#/$defs/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"+"\"",propertyName:key5};if(vErrors === null){vErrors = [err48];}else {vErrors.push(err48);}errors++;}}else {const err49 = {instancePath:instancePath+"/nodes",schemaPath:"#/$defs/name/type",keyword:"type",params:{type: "string"},message:"must be string",propertyName:key5};if(vErrors === null){vErrors = [err49];}else {vErrors.push(err49);}errors++;}var valid12 = _errs47 === errors;if(!valid12){const err50 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/propertyNames",keyword:"propertyNames",params:{propertyName: key5},message:"property name must be valid"};if(vErrors === null){vErrors = [err50];}else {vErrors.push(err50);}errors++;}}for(const key6 of Object.keys(data15)){if(!(validate21(data15[key6], {instancePath:instancePath+"/nodes/" + key6.replace(/~/g, "~0").replace(/\//g, "~1"),parentData:data15,parentDataProperty:key6,rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate21.errors : vErrors.concat(validate21.errors);errors = vErrors.length;}}}else {const err51 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err51];}else {vErrors.push(err51);}errors++;}}if(data.thunderbolt !== undefined && func0.call(data, "thunderbolt")){let data17 = data.thunderbolt;if(data17 && typeof data17 == "object" && !Array.isArray(data17)){for(const key7 of Object.keys(data17)){if(!(((((key7 === "bridge") || (key7 === "rdma")) || (key7 === "addressing")) || (key7 === "avoid")) || (key7 === "links"))){const err52 = {instancePath:instancePath+"/thunderbolt",schemaPath:"#/properties/thunderbolt/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err52];}else {vErrors.push(err52);}errors++;}}if(data17.bridge !== undefined && func0.call(data17, "bridge")){let data18 = data17.bridge;if(!((data18 === "remove") || (data18 === "keep"))){const err53 = {instancePath:instancePath+"/thunderbolt/bridge",schemaPath:"#/properties/thunderbolt/properties/bridge/enum",keyword:"enum",params:{allowedValues: schema31.properties.thunderbolt.properties.bridge.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err53];}else {vErrors.push(err53);}errors++;}}if(data17.rdma !== undefined && func0.call(data17, "rdma")){let data19 = data17.rdma;if(!((data19 === "auto") || (data19 === "required"))){const err54 = {instancePath:instancePath+"/thunderbolt/rdma",schemaPath:"#/properties/thunderbolt/properties/rdma/enum",keyword:"enum",params:{allowedValues: schema31.properties.thunderbolt.properties.rdma.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err54];}else {vErrors.push(err54);}errors++;}}if(data17.addressing !== undefined && func0.call(data17, "addressing")){let data20 = data17.addressing;if(data20 && typeof data20 == "object" && !Array.isArray(data20)){for(const key8 of Object.keys(data20)){if(!(key8 === "pool")){const err55 = {instancePath:instancePath+"/thunderbolt/addressing",schemaPath:"#/properties/thunderbolt/properties/addressing/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err55];}else {vErrors.push(err55);}errors++;}}if(data20.pool !== undefined && func0.call(data20, "pool")){let data21 = data20.pool;if(typeof data21 === "string"){if(data21.length > 18){const err56 = {instancePath:instancePath+"/thunderbolt/addressing/pool",schemaPath:"#/properties/thunderbolt/properties/addressing/properties/pool/maxLength",keyword:"maxLength",params:{limit: 18},message:"must NOT have more than 18 characters"};if(vErrors === null){vErrors = [err56];}else {vErrors.push(err56);}errors++;}if(!pattern19.test(data21)){const err57 = {instancePath:instancePath+"/thunderbolt/addressing/pool",schemaPath:"#/properties/thunderbolt/properties/addressing/properties/pool/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$"},message:"must match pattern \""+"^[0-9]{1,3}(\\.[0-9]{1,3}){3}/[0-9]{1,2}$"+"\""};if(vErrors === null){vErrors = [err57];}else {vErrors.push(err57);}errors++;}}else {const err58 = {instancePath:instancePath+"/thunderbolt/addressing/pool",schemaPath:"#/properties/thunderbolt/properties/addressing/properties/pool/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err58];}else {vErrors.push(err58);}errors++;}}}else {const err59 = {instancePath:instancePath+"/thunderbolt/addressing",schemaPath:"#/properties/thunderbolt/properties/addressing/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err59];}else {vErrors.push(err59);}errors++;}}if(data17.avoid !== undefined && func0.call(data17, "avoid")){let data22 = data17.avoid;if(Array.isArray(data22)){if(data22.length > 1024){const err60 = {instancePath:instancePath+"/thunderbolt/avoid",schemaPath:"#/properties/thunderbolt/properties/avoid/maxItems",keyword:"maxItems",params:{limit: 1024},message:"must NOT have more than 1024 items"};if(vErrors === null){vErrors = [err60];}else {vErrors.push(err60);}errors++;}const len0 = data22.length;for(let i0=0; i0<len0; i0++){let data23 = data22[i0];const _errs65 = errors;let valid19 = false;let passing2 = null;const _errs66 = errors;if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){const err61 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/properties/thunderbolt/properties/avoid/items/oneOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err61];}else {vErrors.push(err61);}errors++;}if((typeof data23 == "number") && (isFinite(data23))){if(data23 > 16 || isNaN(data23)){const err62 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/properties/thunderbolt/properties/avoid/items/oneOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 16},message:"must be <= 16"};if(vErrors === null){vErrors = [err62];}else {vErrors.push(err62);}errors++;}if(data23 < 1 || isNaN(data23)){const err63 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/properties/thunderbolt/properties/avoid/items/oneOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err63];}else {vErrors.push(err63);}errors++;}}var _valid2 = _errs66 === errors;if(_valid2){valid19 = true;passing2 = 0;}const _errs68 = errors;if(typeof data23 === "string"){if(data23.length > 66){const err64 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/$defs/linkEnd/maxLength",keyword:"maxLength",params:{limit: 66},message:"must NOT have more than 66 characters"};if(vErrors === null){vErrors = [err64];}else {vErrors.push(err64);}errors++;}if(!pattern20.test(data23)){const err65 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/$defs/linkEnd/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$"+"\""};if(vErrors === null){vErrors = [err65];}else {vErrors.push(err65);}errors++;}}else {const err66 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/$defs/linkEnd/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err66];}else {vErrors.push(err66);}errors++;}var _valid2 = _errs68 === errors;if(_valid2 && valid19){valid19 = false;passing2 = [passing2, 1];}else {if(_valid2){valid19 = true;passing2 = 1;}}if(!valid19){const err67 = {instancePath:instancePath+"/thunderbolt/avoid/" + i0,schemaPath:"#/properties/thunderbolt/properties/avoid/items/oneOf",keyword:"oneOf",params:{passingSchemas: passing2},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err67];}else {vErrors.push(err67);}errors++;}else {errors = _errs65;if(vErrors !== null){if(_errs65){vErrors.length = _errs65;}else {vErrors = null;}}}}}else {const err68 = {instancePath:instancePath+"/thunderbolt/avoid",schemaPath:"#/properties/thunderbolt/properties/avoid/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err68];}else {vErrors.push(err68);}errors++;}}if(data17.links !== undefined && func0.call(data17, "links")){let data24 = data17.links;if(Array.isArray(data24)){if(data24.length > 1024){const err69 = {instancePath:instancePath+"/thunderbolt/links",schemaPath:"#/properties/thunderbolt/properties/links/maxItems",keyword:"maxItems",params:{limit: 1024},message:"must NOT have more than 1024 items"};if(vErrors === null){vErrors = [err69];}else {vErrors.push(err69);}errors++;}const len1 = data24.length;for(let i1=0; i1<len1; i1++){let data25 = data24[i1];if(typeof data25 === "string"){if(data25.length > 160){const err70 = {instancePath:instancePath+"/thunderbolt/links/" + i1,schemaPath:"#/properties/thunderbolt/properties/links/items/maxLength",keyword:"maxLength",params:{limit: 160},message:"must NOT have more than 160 characters"};if(vErrors === null){vErrors = [err70];}else {vErrors.push(err70);}errors++;}if(!pattern21.test(data25)){const err71 = {instancePath:instancePath+"/thunderbolt/links/" + i1,schemaPath:"#/properties/thunderbolt/properties/links/items/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]? *<-> *[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]? *<-> *[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?:[1-9][0-9]?$"+"\""};if(vErrors === null){vErrors = [err71];}else {vErrors.push(err71);}errors++;}}else {const err72 = {instancePath:instancePath+"/thunderbolt/links/" + i1,schemaPath:"#/properties/thunderbolt/properties/links/items/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err72];}else {vErrors.push(err72);}errors++;}}}else {const err73 = {instancePath:instancePath+"/thunderbolt/links",schemaPath:"#/properties/thunderbolt/properties/links/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err73];}else {vErrors.push(err73);}errors++;}}}else {const err74 = {instancePath:instancePath+"/thunderbolt",schemaPath:"#/properties/thunderbolt/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err74];}else {vErrors.push(err74);}errors++;}}}else {const err75 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err75];}else {vErrors.push(err75);}errors++;}validate20.errors = vErrors;return errors === 0;}validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};export const validateLock = validate23;const schema46 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://meshwright.dev/schemas/lock.schema.json","title":"ClusterLockFile","description":"What was resolved once for a cluster file and is committed beside it. meshwright writes it; people review it.","type":"object","additionalProperties":false,"required":["lock"],"properties":{"lock":{"description":"Version of this file's format; 1 is the only one.","const":1},"hostKeys":{"description":"The pinned host keys, by address as in known_hosts: `host`, or `[host]:port` for another port than 22.","type":"object","maxProperties":1024,"propertyNames":{"description":"An address as known_hosts has it: a host, or [host]:port.","type":"string","maxLength":300,"pattern":"^([A-Za-z0-9:][A-Za-z0-9:._%-]*|\\[[A-Za-z0-9:][A-Za-z0-9:._%-]*\\]:[1-9][0-9]{0,4})$"},"additionalProperties":{"description":"One to eight keys of this address, each of another type.","type":"array","minItems":1,"maxItems":8,"items":{"description":"A key type and its base64, as a line of known_hosts has them.","type":"string","maxLength":8192,"pattern":"^[a-z0-9][a-z0-9@.-]{1,63} [A-Za-z0-9+/]{16,}={0,2}$"}}}}};const pattern22 = new RegExp("^([A-Za-z0-9:][A-Za-z0-9:._%-]*|\\[[A-Za-z0-9:][A-Za-z0-9:._%-]*\\]:[1-9][0-9]{0,4})$", "u");const pattern23 = new RegExp("^[a-z0-9][a-z0-9@.-]{1,63} [A-Za-z0-9+/]{16,}={0,2}$", "u");function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){/*# sourceURL="https://meshwright.dev/schemas/lock.schema.json" */;let vErrors = null;let errors = 0;const evaluated0 = validate23.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if((data.lock === undefined) || (!(func0.call(data, "lock")))){const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "lock"},message:"must have required property '"+"lock"+"'"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}for(const key0 of Object.keys(data)){if(!((key0 === "lock") || (key0 === "hostKeys"))){const err1 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}}if(data.lock !== undefined && func0.call(data, "lock")){if(1 !== data.lock){const err2 = {instancePath:instancePath+"/lock",schemaPath:"#/properties/lock/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}}if(data.hostKeys !== undefined && func0.call(data, "hostKeys")){let data1 = data.hostKeys;if(data1 && typeof data1 == "object" && !Array.isArray(data1)){if(Object.keys(data1).length > 1024){const err3 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/maxProperties",keyword:"maxProperties",params:{limit: 1024},message:"must NOT have more than 1024 properties"};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}for(const key1 of Object.keys(data1)){const _errs5 = errors;if(typeof key1 === "string"){if(key1.length > 300){const err4 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/propertyNames/maxLength",keyword:"maxLength",params:{limit: 300},message:"must NOT have more than 300 characters",propertyName:key1};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}if(!pattern22.test(key1)){const err5 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/propertyNames/pattern",keyword:"pattern",params:{pattern: "^([A-Za-z0-9:][A-Za-z0-9:._%-]*|\\[[A-Za-z0-9:][A-Za-z0-9:._%-]*\\]:[1-9][0-9]{0,4})$"},message:"must match pattern \""+"^([A-Za-z0-9:][A-Za-z0-9:._%-]*|\\[[A-Za-z0-9:][A-Za-z0-9:._%-]*\\]:[1-9][0-9]{0,4})$"+"\"",propertyName:key1};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}}else {const err6 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/propertyNames/type",keyword:"type",params:{type: "string"},message:"must be string",propertyName:key1};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}var valid1 = _errs5 === errors;if(!valid1){const err7 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/propertyNames",keyword:"propertyNames",params:{propertyName: key1},message:"property name must be valid"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}}for(const key2 of Object.keys(data1)){let data2 = data1[key2];if(Array.isArray(data2)){if(data2.length > 8){const err8 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/hostKeys/additionalProperties/maxItems",keyword:"maxItems",params:{limit: 8},message:"must NOT have more than 8 items"};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}if(data2.length < 1){const err9 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/hostKeys/additionalProperties/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}const len0 = data2.length;for(let i0=0; i0<len0; i0++){let data3 = data2[i0];if(typeof data3 === "string"){if(data3.length > 8192){const err10 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"#/properties/hostKeys/additionalProperties/items/maxLength",keyword:"maxLength",params:{limit: 8192},message:"must NOT have more than 8192 characters"};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}if(!pattern23.test(data3)){const err11 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"#/properties/hostKeys/additionalProperties/items/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9][a-z0-9@.-]{1,63} [A-Za-z0-9+/]{16,}={0,2}$"},message:"must match pattern \""+"^[a-z0-9][a-z0-9@.-]{1,63} [A-Za-z0-9+/]{16,}={0,2}$"+"\""};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}}else {const err12 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1")+"/" + i0,schemaPath:"#/properties/hostKeys/additionalProperties/items/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err12];}else {vErrors.push(err12);}errors++;}}}else {const err13 = {instancePath:instancePath+"/hostKeys/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),schemaPath:"#/properties/hostKeys/additionalProperties/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err13];}else {vErrors.push(err13);}errors++;}}}else {const err14 = {instancePath:instancePath+"/hostKeys",schemaPath:"#/properties/hostKeys/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err14];}else {vErrors.push(err14);}errors++;}}}else {const err15 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err15];}else {vErrors.push(err15);}errors++;}validate23.errors = vErrors;return errors === 0;}validate23.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};
