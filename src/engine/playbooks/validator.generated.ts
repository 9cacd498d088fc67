// @ts-nocheck: generated from schemas/*.schema.json by scripts/generate-validators.mjs; never edited by hand.
/** `schemas/playbook.schema.json`, to look descriptions up. */
export const playbookSchema = {
 "$schema": "https://json-schema.org/draft/2020-12/schema",
 "$id": "https://meshwright.dev/schemas/playbook.schema.json",
 "title": "PlaybookFile",
 "description": "What is to be done with the Macs of a rack, play after play: `meshwright run FILE`. Every task is one of a closed list; there are no loops and no templates beyond a few {field}s.",
 "type": "object",
 "additionalProperties": false,
 "required": [
  "playbook",
  "plays"
 ],
 "properties": {
  "playbook": {
   "description": "Version of this file's format; 1 is the only one.",
   "const": 1
  },
  "about": {
   "description": "One sentence about the playbook, shown before it runs.",
   "$ref": "#/$defs/text",
   "examples": [
    "Stops the mesh and starts it again."
   ]
  },
  "plays": {
   "description": "The plays, in the order in which they are run.",
   "type": "array",
   "minItems": 1,
   "maxItems": 64,
   "items": {
    "$ref": "#/$defs/play"
   }
  }
 },
 "$defs": {
  "text": {
   "description": "A sentence on one line, 1 to 400 characters.",
   "type": "string",
   "minLength": 1,
   "maxLength": 400,
   "pattern": "^[^\\u0000-\\u001f\\u007f]+$"
  },
  "name": {
   "description": "A name of the cluster file: 1 to 63 lower-case letters, digits and dashes; begins and ends with a letter or digit.",
   "type": "string",
   "maxLength": 63,
   "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
  },
  "names": {
   "description": "Names of placements of the cluster file.",
   "type": "array",
   "minItems": 1,
   "maxItems": 64,
   "items": {
    "$ref": "#/$defs/name"
   },
   "examples": [
    [
     "kimi"
    ]
   ]
  },
  "deadline": {
   "description": "A time from 1s to 24h: a whole number with s, m or h.",
   "type": "string",
   "maxLength": 8,
   "pattern": "^[1-9][0-9]{0,4}(s|m|h)$",
   "examples": [
    "10m"
   ]
  },
  "words": {
   "description": "A command as a list of words, its program first; no shell looks into them. A word may hold {cluster}, {node} and {host}; write {{ for a brace.",
   "type": "array",
   "minItems": 1,
   "maxItems": 64,
   "items": {
    "description": "A text of 1 to 4096 characters.",
    "type": "string",
    "minLength": 1,
    "maxLength": 4096
   },
   "examples": [
    [
     "/usr/sbin/sysctl",
     "-n",
     "hw.memsize"
    ]
   ]
  },
  "batch": {
   "description": "How many nodes go together: a whole number from 1, or a share such as 50% in quotes.",
   "oneOf": [
    {
     "type": "integer",
     "minimum": 1,
     "maximum": 256
    },
    {
     "type": "string",
     "pattern": "^([1-9][0-9]?|100)%$"
    }
   ]
  },
  "play": {
   "description": "Tasks for some nodes.",
   "type": "object",
   "additionalProperties": false,
   "required": [
    "nodes",
    "tasks"
   ],
   "properties": {
    "name": {
     "description": "What the play is about, shown when it begins.",
     "$ref": "#/$defs/text",
     "examples": [
      "Restart the Macs one after another"
     ]
    },
    "nodes": {
     "description": "`all`, `targets` (those that the command line names), a label such as role=worker, or a list of names.",
     "oneOf": [
      {
       "type": "string",
       "maxLength": 400,
       "pattern": "^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$"
      },
      {
       "type": "array",
       "minItems": 1,
       "maxItems": 256,
       "items": {
        "$ref": "#/$defs/name"
       }
      }
     ],
     "examples": [
      "all",
      "targets",
      "role=worker",
      [
       "studio-1",
       "studio-2"
      ]
     ]
    },
    "serial": {
     "description": "How many nodes go together: a number, a share such as \"50%\", or a list of these, whose last one repeats. All at once unless it is here.",
     "oneOf": [
      {
       "type": "integer",
       "minimum": 1,
       "maximum": 256
      },
      {
       "type": "string",
       "pattern": "^([1-9][0-9]?|100)%$"
      },
      {
       "type": "array",
       "minItems": 1,
       "maxItems": 64,
       "items": {
        "$ref": "#/$defs/batch"
       }
      }
     ],
     "examples": [
      1,
      "50%",
      [
       1,
       "50%"
      ]
     ]
    },
    "maxFailures": {
     "description": "How many nodes of the play may fail before nothing more is begun: 0 unless it is here.",
     "type": "integer",
     "minimum": 0,
     "maximum": 256
    },
    "tasks": {
     "description": "The tasks, in the order in which they are done.",
     "type": "array",
     "minItems": 1,
     "maxItems": 64,
     "items": {
      "$ref": "#/$defs/task"
     }
    }
   }
  },
  "task": {
   "description": "One task: a map with exactly one key, such as `stop: {}`.",
   "type": "object",
   "additionalProperties": false,
   "minProperties": 1,
   "maxProperties": 1,
   "properties": {
    "converge": {
     "description": "Brings the nodes to what the cluster file wants.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "only": {
       "description": "Only resources of these kinds.",
       "type": "array",
       "minItems": 1,
       "maxItems": 23,
       "items": {
        "description": "A kind of resource, as plans name it.",
        "enum": [
         "hold",
         "identity",
         "macos",
         "filevault",
         "sudo",
         "rollback",
         "power",
         "updates",
         "names",
         "clock",
         "accounts",
         "login-window",
         "screen-sharing",
         "firewall",
         "spotlight",
         "time-machine",
         "photos-analysis",
         "foreign-daemon",
         "thunderbolt-bridge",
         "rdma",
         "thunderbolt-link",
         "link-address",
         "service-order",
         "wired-limit",
         "keeper",
         "staging",
         "runtime",
         "model",
         "doorman",
         "placement"
        ]
       },
       "examples": [
        [
         "wired-limit"
        ]
       ]
      }
     }
    },
    "verify": {
     "description": "Observes the nodes and fails when anything is left to change.",
     "type": "object",
     "additionalProperties": false
    },
    "stop": {
     "description": "Stops placements, ranks in order: those that are named, else those of the command line, else all that run on the nodes.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "placements": {
       "$ref": "#/$defs/names"
      }
     }
    },
    "start": {
     "description": "Starts placements: those that are named, else those of the command line, else all of the nodes that the cluster file wants serving.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "placements": {
       "$ref": "#/$defs/names"
      }
     }
    },
    "drain": {
     "description": "Closes the doors of published placements, so that nobody is let in any more, and waits until those inside have their answers; the mesh goes on. Those that are named, else those of the command line, else all that run on the nodes. `start`, or a `converge`, opens them again.",
     "type": "object",
     "additionalProperties": false,
     "properties": {
      "placements": {
       "$ref": "#/$defs/names"
      },
      "deadline": {
       "description": "How long those inside may take, as 10m; 30s unless it is here.",
       "$ref": "#/$defs/deadline"
      }
     }
    },
    "reboot": {
     "description": "Stops what runs on the Macs, restarts each at most once, and waits for its next boot session.",
     "type": "object",
     "additionalProperties": false
    },
    "shutdown": {
     "description": "Stops what runs on the Macs and switches them off. Only somebody at the rack brings them back.",
     "type": "object",
     "additionalProperties": false
    },
    "wait": {
     "description": "Waits until every node can be observed, or every placement gives a token.",
     "type": "object",
     "additionalProperties": false,
     "required": [
      "for",
      "deadline"
     ],
     "properties": {
      "for": {
       "description": "What is waited for: observed or serving.",
       "enum": [
        "observed",
        "serving"
       ],
       "examples": [
        "observed"
       ]
      },
      "placements": {
       "$ref": "#/$defs/names"
      },
      "deadline": {
       "$ref": "#/$defs/deadline"
      }
     }
    },
    "assert": {
     "description": "Fails unless a property is seen to have this value on every node that has it.",
     "type": "object",
     "additionalProperties": false,
     "required": [
      "property",
      "is"
     ],
     "properties": {
      "property": {
       "description": "The address of a property as plans show it, such as power/sleep.",
       "type": "string",
       "minLength": 1,
       "maxLength": 200,
       "pattern": "^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$",
       "examples": [
        "power/sleep"
       ]
      },
      "is": {
       "description": "The value: a text, a whole number, true or false.",
       "oneOf": [
        {
         "type": "string",
         "maxLength": 400
        },
        {
         "type": "integer"
        },
        {
         "type": "boolean"
        }
       ],
       "examples": [
        0
       ]
      },
      "says": {
       "description": "What to say when it is not so; may hold {cluster}, {nodes} and {placements}.",
       "$ref": "#/$defs/text"
      }
     }
    },
    "confirm": {
     "description": "A question that needs a yes; `--yes` answers it. May hold {cluster}, {nodes} and {placements}.",
     "$ref": "#/$defs/text",
     "examples": [
      "Is the fan of {nodes} back in place?"
     ]
    },
    "run": {
     "description": "Runs one command on each node, as the ssh user.",
     "type": "object",
     "additionalProperties": false,
     "required": [
      "command",
      "effect"
     ],
     "properties": {
      "command": {
       "$ref": "#/$defs/words"
      },
      "unless": {
       "description": "When this command ends with 0 on a node, the other is not run there.",
       "$ref": "#/$defs/words"
      },
      "effect": {
       "description": "What it disturbs: `none`, or `network` when connections of the node may break.",
       "enum": [
        "none",
        "network"
       ],
       "examples": [
        "none"
       ]
      },
      "deadline": {
       "$ref": "#/$defs/deadline"
      }
     }
    }
   }
  }
 }
};
export const validatePlaybook = validate20;const schema31 = {"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://meshwright.dev/schemas/playbook.schema.json","title":"PlaybookFile","description":"What is to be done with the Macs of a rack, play after play: `meshwright run FILE`. Every task is one of a closed list; there are no loops and no templates beyond a few {field}s.","type":"object","additionalProperties":false,"required":["playbook","plays"],"properties":{"playbook":{"description":"Version of this file's format; 1 is the only one.","const":1},"about":{"description":"One sentence about the playbook, shown before it runs.","$ref":"#/$defs/text","examples":["Stops the mesh and starts it again."]},"plays":{"description":"The plays, in the order in which they are run.","type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/play"}}},"$defs":{"text":{"description":"A sentence on one line, 1 to 400 characters.","type":"string","minLength":1,"maxLength":400,"pattern":"^[^\\u0000-\\u001f\\u007f]+$"},"name":{"description":"A name of the cluster file: 1 to 63 lower-case letters, digits and dashes; begins and ends with a letter or digit.","type":"string","maxLength":63,"pattern":"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"},"names":{"description":"Names of placements of the cluster file.","type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/name"},"examples":[["kimi"]]},"deadline":{"description":"A time from 1s to 24h: a whole number with s, m or h.","type":"string","maxLength":8,"pattern":"^[1-9][0-9]{0,4}(s|m|h)$","examples":["10m"]},"words":{"description":"A command as a list of words, its program first; no shell looks into them. A word may hold {cluster}, {node} and {host}; write {{ for a brace.","type":"array","minItems":1,"maxItems":64,"items":{"description":"A text of 1 to 4096 characters.","type":"string","minLength":1,"maxLength":4096},"examples":[["/usr/sbin/sysctl","-n","hw.memsize"]]},"batch":{"description":"How many nodes go together: a whole number from 1, or a share such as 50% in quotes.","oneOf":[{"type":"integer","minimum":1,"maximum":256},{"type":"string","pattern":"^([1-9][0-9]?|100)%$"}]},"play":{"description":"Tasks for some nodes.","type":"object","additionalProperties":false,"required":["nodes","tasks"],"properties":{"name":{"description":"What the play is about, shown when it begins.","$ref":"#/$defs/text","examples":["Restart the Macs one after another"]},"nodes":{"description":"`all`, `targets` (those that the command line names), a label such as role=worker, or a list of names.","oneOf":[{"type":"string","maxLength":400,"pattern":"^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$"},{"type":"array","minItems":1,"maxItems":256,"items":{"$ref":"#/$defs/name"}}],"examples":["all","targets","role=worker",["studio-1","studio-2"]]},"serial":{"description":"How many nodes go together: a number, a share such as \"50%\", or a list of these, whose last one repeats. All at once unless it is here.","oneOf":[{"type":"integer","minimum":1,"maximum":256},{"type":"string","pattern":"^([1-9][0-9]?|100)%$"},{"type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/batch"}}],"examples":[1,"50%",[1,"50%"]]},"maxFailures":{"description":"How many nodes of the play may fail before nothing more is begun: 0 unless it is here.","type":"integer","minimum":0,"maximum":256},"tasks":{"description":"The tasks, in the order in which they are done.","type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/task"}}}},"task":{"description":"One task: a map with exactly one key, such as `stop: {}`.","type":"object","additionalProperties":false,"minProperties":1,"maxProperties":1,"properties":{"converge":{"description":"Brings the nodes to what the cluster file wants.","type":"object","additionalProperties":false,"properties":{"only":{"description":"Only resources of these kinds.","type":"array","minItems":1,"maxItems":23,"items":{"description":"A kind of resource, as plans name it.","enum":["hold","identity","macos","filevault","sudo","rollback","power","updates","names","clock","accounts","login-window","screen-sharing","firewall","spotlight","time-machine","photos-analysis","foreign-daemon","thunderbolt-bridge","rdma","thunderbolt-link","link-address","service-order","wired-limit","keeper","staging","runtime","model","doorman","placement"]},"examples":[["wired-limit"]]}}},"verify":{"description":"Observes the nodes and fails when anything is left to change.","type":"object","additionalProperties":false},"stop":{"description":"Stops placements, ranks in order: those that are named, else those of the command line, else all that run on the nodes.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"}}},"start":{"description":"Starts placements: those that are named, else those of the command line, else all of the nodes that the cluster file wants serving.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"}}},"drain":{"description":"Closes the doors of published placements, so that nobody is let in any more, and waits until those inside have their answers; the mesh goes on. Those that are named, else those of the command line, else all that run on the nodes. `start`, or a `converge`, opens them again.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"},"deadline":{"description":"How long those inside may take, as 10m; 30s unless it is here.","$ref":"#/$defs/deadline"}}},"reboot":{"description":"Stops what runs on the Macs, restarts each at most once, and waits for its next boot session.","type":"object","additionalProperties":false},"shutdown":{"description":"Stops what runs on the Macs and switches them off. Only somebody at the rack brings them back.","type":"object","additionalProperties":false},"wait":{"description":"Waits until every node can be observed, or every placement gives a token.","type":"object","additionalProperties":false,"required":["for","deadline"],"properties":{"for":{"description":"What is waited for: observed or serving.","enum":["observed","serving"],"examples":["observed"]},"placements":{"$ref":"#/$defs/names"},"deadline":{"$ref":"#/$defs/deadline"}}},"assert":{"description":"Fails unless a property is seen to have this value on every node that has it.","type":"object","additionalProperties":false,"required":["property","is"],"properties":{"property":{"description":"The address of a property as plans show it, such as power/sleep.","type":"string","minLength":1,"maxLength":200,"pattern":"^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$","examples":["power/sleep"]},"is":{"description":"The value: a text, a whole number, true or false.","oneOf":[{"type":"string","maxLength":400},{"type":"integer"},{"type":"boolean"}],"examples":[0]},"says":{"description":"What to say when it is not so; may hold {cluster}, {nodes} and {placements}.","$ref":"#/$defs/text"}}},"confirm":{"description":"A question that needs a yes; `--yes` answers it. May hold {cluster}, {nodes} and {placements}.","$ref":"#/$defs/text","examples":["Is the fan of {nodes} back in place?"]},"run":{"description":"Runs one command on each node, as the ssh user.","type":"object","additionalProperties":false,"required":["command","effect"],"properties":{"command":{"$ref":"#/$defs/words"},"unless":{"description":"When this command ends with 0 on a node, the other is not run there.","$ref":"#/$defs/words"},"effect":{"description":"What it disturbs: `none`, or `network` when connections of the node may break.","enum":["none","network"],"examples":["none"]},"deadline":{"$ref":"#/$defs/deadline"}}}}}}};const schema32 = {"description":"A sentence on one line, 1 to 400 characters.","type":"string","minLength":1,"maxLength":400,"pattern":"^[^\\u0000-\\u001f\\u007f]+$"};const func0 = Object.prototype.hasOwnProperty;const pattern4 = new RegExp("^[^\\u0000-\\u001f\\u007f]+$", "u");const schema33 = {"description":"Tasks for some nodes.","type":"object","additionalProperties":false,"required":["nodes","tasks"],"properties":{"name":{"description":"What the play is about, shown when it begins.","$ref":"#/$defs/text","examples":["Restart the Macs one after another"]},"nodes":{"description":"`all`, `targets` (those that the command line names), a label such as role=worker, or a list of names.","oneOf":[{"type":"string","maxLength":400,"pattern":"^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$"},{"type":"array","minItems":1,"maxItems":256,"items":{"$ref":"#/$defs/name"}}],"examples":["all","targets","role=worker",["studio-1","studio-2"]]},"serial":{"description":"How many nodes go together: a number, a share such as \"50%\", or a list of these, whose last one repeats. All at once unless it is here.","oneOf":[{"type":"integer","minimum":1,"maximum":256},{"type":"string","pattern":"^([1-9][0-9]?|100)%$"},{"type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/batch"}}],"examples":[1,"50%",[1,"50%"]]},"maxFailures":{"description":"How many nodes of the play may fail before nothing more is begun: 0 unless it is here.","type":"integer","minimum":0,"maximum":256},"tasks":{"description":"The tasks, in the order in which they are done.","type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/task"}}}};const schema35 = {"description":"A name of the cluster file: 1 to 63 lower-case letters, digits and dashes; begins and ends with a letter or digit.","type":"string","maxLength":63,"pattern":"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"};const schema36 = {"description":"How many nodes go together: a whole number from 1, or a share such as 50% in quotes.","oneOf":[{"type":"integer","minimum":1,"maximum":256},{"type":"string","pattern":"^([1-9][0-9]?|100)%$"}]};const pattern6 = new RegExp("^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$", "u");const pattern7 = new RegExp("^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "u");const pattern8 = new RegExp("^([1-9][0-9]?|100)%$", "u");const schema37 = {"description":"One task: a map with exactly one key, such as `stop: {}`.","type":"object","additionalProperties":false,"minProperties":1,"maxProperties":1,"properties":{"converge":{"description":"Brings the nodes to what the cluster file wants.","type":"object","additionalProperties":false,"properties":{"only":{"description":"Only resources of these kinds.","type":"array","minItems":1,"maxItems":23,"items":{"description":"A kind of resource, as plans name it.","enum":["hold","identity","macos","filevault","sudo","rollback","power","updates","names","clock","accounts","login-window","screen-sharing","firewall","spotlight","time-machine","photos-analysis","foreign-daemon","thunderbolt-bridge","rdma","thunderbolt-link","link-address","service-order","wired-limit","keeper","staging","runtime","model","doorman","placement"]},"examples":[["wired-limit"]]}}},"verify":{"description":"Observes the nodes and fails when anything is left to change.","type":"object","additionalProperties":false},"stop":{"description":"Stops placements, ranks in order: those that are named, else those of the command line, else all that run on the nodes.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"}}},"start":{"description":"Starts placements: those that are named, else those of the command line, else all of the nodes that the cluster file wants serving.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"}}},"drain":{"description":"Closes the doors of published placements, so that nobody is let in any more, and waits until those inside have their answers; the mesh goes on. Those that are named, else those of the command line, else all that run on the nodes. `start`, or a `converge`, opens them again.","type":"object","additionalProperties":false,"properties":{"placements":{"$ref":"#/$defs/names"},"deadline":{"description":"How long those inside may take, as 10m; 30s unless it is here.","$ref":"#/$defs/deadline"}}},"reboot":{"description":"Stops what runs on the Macs, restarts each at most once, and waits for its next boot session.","type":"object","additionalProperties":false},"shutdown":{"description":"Stops what runs on the Macs and switches them off. Only somebody at the rack brings them back.","type":"object","additionalProperties":false},"wait":{"description":"Waits until every node can be observed, or every placement gives a token.","type":"object","additionalProperties":false,"required":["for","deadline"],"properties":{"for":{"description":"What is waited for: observed or serving.","enum":["observed","serving"],"examples":["observed"]},"placements":{"$ref":"#/$defs/names"},"deadline":{"$ref":"#/$defs/deadline"}}},"assert":{"description":"Fails unless a property is seen to have this value on every node that has it.","type":"object","additionalProperties":false,"required":["property","is"],"properties":{"property":{"description":"The address of a property as plans show it, such as power/sleep.","type":"string","minLength":1,"maxLength":200,"pattern":"^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$","examples":["power/sleep"]},"is":{"description":"The value: a text, a whole number, true or false.","oneOf":[{"type":"string","maxLength":400},{"type":"integer"},{"type":"boolean"}],"examples":[0]},"says":{"description":"What to say when it is not so; may hold {cluster}, {nodes} and {placements}.","$ref":"#/$defs/text"}}},"confirm":{"description":"A question that needs a yes; `--yes` answers it. May hold {cluster}, {nodes} and {placements}.","$ref":"#/$defs/text","examples":["Is the fan of {nodes} back in place?"]},"run":{"description":"Runs one command on each node, as the ssh user.","type":"object","additionalProperties":false,"required":["command","effect"],"properties":{"command":{"$ref":"#/$defs/words"},"unless":{"description":"When this command ends with 0 on a node, the other is not run there.","$ref":"#/$defs/words"},"effect":{"description":"What it disturbs: `none`, or `network` when connections of the node may break.","enum":["none","network"],"examples":["none"]},"deadline":{"$ref":"#/$defs/deadline"}}}}};const schema40 = {"description":"A time from 1s to 24h: a whole number with s, m or h.","type":"string","maxLength":8,"pattern":"^[1-9][0-9]{0,4}(s|m|h)$","examples":["10m"]};const schema44 = {"description":"A command as a list of words, its program first; no shell looks into them. A word may hold {cluster}, {node} and {host}; write {{ for a brace.","type":"array","minItems":1,"maxItems":64,"items":{"description":"A text of 1 to 4096 characters.","type":"string","minLength":1,"maxLength":4096},"examples":[["/usr/sbin/sysctl","-n","hw.memsize"]]};const schema38 = {"description":"Names of placements of the cluster file.","type":"array","minItems":1,"maxItems":64,"items":{"$ref":"#/$defs/name"},"examples":[["kimi"]]};function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const evaluated0 = validate23.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(Array.isArray(data)){if(data.length > 64){const err0 = {instancePath,schemaPath:"#/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}if(data.length < 1){const err1 = {instancePath,schemaPath:"#/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}const len0 = data.length;for(let i0=0; i0<len0; i0++){let data0 = data[i0];if(typeof data0 === "string"){if(data0.length > 63){const err2 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/name/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}if(!pattern7.test(data0)){const err3 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"+"\""};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}}else {const err4 = {instancePath:instancePath+"/" + i0,schemaPath:"#/$defs/name/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}}}else {const err5 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}validate23.errors = vErrors;return errors === 0;}validate23.evaluated = {"items":true,"dynamicProps":false,"dynamicItems":false};const pattern11 = new RegExp("^[1-9][0-9]{0,4}(s|m|h)$", "u");const pattern13 = new RegExp("^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$", "u");function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const evaluated0 = validate22.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if(Object.keys(data).length > 1){const err0 = {instancePath,schemaPath:"#/maxProperties",keyword:"maxProperties",params:{limit: 1},message:"must NOT have more than 1 properties"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}if(Object.keys(data).length < 1){const err1 = {instancePath,schemaPath:"#/minProperties",keyword:"minProperties",params:{limit: 1},message:"must NOT have fewer than 1 properties"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}for(const key0 of Object.keys(data)){if(!(func0.call(schema37.properties, key0))){const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}}if(data.converge !== undefined && func0.call(data, "converge")){let data0 = data.converge;if(data0 && typeof data0 == "object" && !Array.isArray(data0)){for(const key1 of Object.keys(data0)){if(!(key1 === "only")){const err3 = {instancePath:instancePath+"/converge",schemaPath:"#/properties/converge/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key1},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}}if(data0.only !== undefined && func0.call(data0, "only")){let data1 = data0.only;if(Array.isArray(data1)){if(data1.length > 23){const err4 = {instancePath:instancePath+"/converge/only",schemaPath:"#/properties/converge/properties/only/maxItems",keyword:"maxItems",params:{limit: 23},message:"must NOT have more than 23 items"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}if(data1.length < 1){const err5 = {instancePath:instancePath+"/converge/only",schemaPath:"#/properties/converge/properties/only/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}const len0 = data1.length;for(let i0=0; i0<len0; i0++){let data2 = data1[i0];if(!((((((((((((((((((((((((((((((data2 === "hold") || (data2 === "identity")) || (data2 === "macos")) || (data2 === "filevault")) || (data2 === "sudo")) || (data2 === "rollback")) || (data2 === "power")) || (data2 === "updates")) || (data2 === "names")) || (data2 === "clock")) || (data2 === "accounts")) || (data2 === "login-window")) || (data2 === "screen-sharing")) || (data2 === "firewall")) || (data2 === "spotlight")) || (data2 === "time-machine")) || (data2 === "photos-analysis")) || (data2 === "foreign-daemon")) || (data2 === "thunderbolt-bridge")) || (data2 === "rdma")) || (data2 === "thunderbolt-link")) || (data2 === "link-address")) || (data2 === "service-order")) || (data2 === "wired-limit")) || (data2 === "keeper")) || (data2 === "staging")) || (data2 === "runtime")) || (data2 === "model")) || (data2 === "doorman")) || (data2 === "placement"))){const err6 = {instancePath:instancePath+"/converge/only/" + i0,schemaPath:"#/properties/converge/properties/only/items/enum",keyword:"enum",params:{allowedValues: schema37.properties.converge.properties.only.items.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}}}else {const err7 = {instancePath:instancePath+"/converge/only",schemaPath:"#/properties/converge/properties/only/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}}}else {const err8 = {instancePath:instancePath+"/converge",schemaPath:"#/properties/converge/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}}if(data.verify !== undefined && func0.call(data, "verify")){let data3 = data.verify;if(data3 && typeof data3 == "object" && !Array.isArray(data3)){for(const key2 of Object.keys(data3)){const err9 = {instancePath:instancePath+"/verify",schemaPath:"#/properties/verify/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key2},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}}else {const err10 = {instancePath:instancePath+"/verify",schemaPath:"#/properties/verify/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}}if(data.stop !== undefined && func0.call(data, "stop")){let data4 = data.stop;if(data4 && typeof data4 == "object" && !Array.isArray(data4)){for(const key3 of Object.keys(data4)){if(!(key3 === "placements")){const err11 = {instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key3},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}}if(data4.placements !== undefined && func0.call(data4, "placements")){if(!(validate23(data4.placements, {instancePath:instancePath+"/stop/placements",parentData:data4,parentDataProperty:"placements",rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);errors = vErrors.length;}}}else {const err12 = {instancePath:instancePath+"/stop",schemaPath:"#/properties/stop/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err12];}else {vErrors.push(err12);}errors++;}}if(data.start !== undefined && func0.call(data, "start")){let data6 = data.start;if(data6 && typeof data6 == "object" && !Array.isArray(data6)){for(const key4 of Object.keys(data6)){if(!(key4 === "placements")){const err13 = {instancePath:instancePath+"/start",schemaPath:"#/properties/start/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key4},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err13];}else {vErrors.push(err13);}errors++;}}if(data6.placements !== undefined && func0.call(data6, "placements")){if(!(validate23(data6.placements, {instancePath:instancePath+"/start/placements",parentData:data6,parentDataProperty:"placements",rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);errors = vErrors.length;}}}else {const err14 = {instancePath:instancePath+"/start",schemaPath:"#/properties/start/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err14];}else {vErrors.push(err14);}errors++;}}if(data.drain !== undefined && func0.call(data, "drain")){let data8 = data.drain;if(data8 && typeof data8 == "object" && !Array.isArray(data8)){for(const key5 of Object.keys(data8)){if(!((key5 === "placements") || (key5 === "deadline"))){const err15 = {instancePath:instancePath+"/drain",schemaPath:"#/properties/drain/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key5},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err15];}else {vErrors.push(err15);}errors++;}}if(data8.placements !== undefined && func0.call(data8, "placements")){if(!(validate23(data8.placements, {instancePath:instancePath+"/drain/placements",parentData:data8,parentDataProperty:"placements",rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);errors = vErrors.length;}}if(data8.deadline !== undefined && func0.call(data8, "deadline")){let data10 = data8.deadline;if(typeof data10 === "string"){if(data10.length > 8){const err16 = {instancePath:instancePath+"/drain/deadline",schemaPath:"#/$defs/deadline/maxLength",keyword:"maxLength",params:{limit: 8},message:"must NOT have more than 8 characters"};if(vErrors === null){vErrors = [err16];}else {vErrors.push(err16);}errors++;}if(!pattern11.test(data10)){const err17 = {instancePath:instancePath+"/drain/deadline",schemaPath:"#/$defs/deadline/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,4}(s|m|h)$"},message:"must match pattern \""+"^[1-9][0-9]{0,4}(s|m|h)$"+"\""};if(vErrors === null){vErrors = [err17];}else {vErrors.push(err17);}errors++;}}else {const err18 = {instancePath:instancePath+"/drain/deadline",schemaPath:"#/$defs/deadline/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err18];}else {vErrors.push(err18);}errors++;}}}else {const err19 = {instancePath:instancePath+"/drain",schemaPath:"#/properties/drain/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err19];}else {vErrors.push(err19);}errors++;}}if(data.reboot !== undefined && func0.call(data, "reboot")){let data11 = data.reboot;if(data11 && typeof data11 == "object" && !Array.isArray(data11)){for(const key6 of Object.keys(data11)){const err20 = {instancePath:instancePath+"/reboot",schemaPath:"#/properties/reboot/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key6},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err20];}else {vErrors.push(err20);}errors++;}}else {const err21 = {instancePath:instancePath+"/reboot",schemaPath:"#/properties/reboot/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err21];}else {vErrors.push(err21);}errors++;}}if(data.shutdown !== undefined && func0.call(data, "shutdown")){let data12 = data.shutdown;if(data12 && typeof data12 == "object" && !Array.isArray(data12)){for(const key7 of Object.keys(data12)){const err22 = {instancePath:instancePath+"/shutdown",schemaPath:"#/properties/shutdown/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key7},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err22];}else {vErrors.push(err22);}errors++;}}else {const err23 = {instancePath:instancePath+"/shutdown",schemaPath:"#/properties/shutdown/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err23];}else {vErrors.push(err23);}errors++;}}if(data.wait !== undefined && func0.call(data, "wait")){let data13 = data.wait;if(data13 && typeof data13 == "object" && !Array.isArray(data13)){if((data13.for === undefined) || (!(func0.call(data13, "for")))){const err24 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/required",keyword:"required",params:{missingProperty: "for"},message:"must have required property '"+"for"+"'"};if(vErrors === null){vErrors = [err24];}else {vErrors.push(err24);}errors++;}if((data13.deadline === undefined) || (!(func0.call(data13, "deadline")))){const err25 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/required",keyword:"required",params:{missingProperty: "deadline"},message:"must have required property '"+"deadline"+"'"};if(vErrors === null){vErrors = [err25];}else {vErrors.push(err25);}errors++;}for(const key8 of Object.keys(data13)){if(!(((key8 === "for") || (key8 === "placements")) || (key8 === "deadline"))){const err26 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key8},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err26];}else {vErrors.push(err26);}errors++;}}if(data13.for !== undefined && func0.call(data13, "for")){let data14 = data13.for;if(!((data14 === "observed") || (data14 === "serving"))){const err27 = {instancePath:instancePath+"/wait/for",schemaPath:"#/properties/wait/properties/for/enum",keyword:"enum",params:{allowedValues: schema37.properties.wait.properties.for.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err27];}else {vErrors.push(err27);}errors++;}}if(data13.placements !== undefined && func0.call(data13, "placements")){if(!(validate23(data13.placements, {instancePath:instancePath+"/wait/placements",parentData:data13,parentDataProperty:"placements",rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);errors = vErrors.length;}}if(data13.deadline !== undefined && func0.call(data13, "deadline")){let data16 = data13.deadline;if(typeof data16 === "string"){if(data16.length > 8){const err28 = {instancePath:instancePath+"/wait/deadline",schemaPath:"#/$defs/deadline/maxLength",keyword:"maxLength",params:{limit: 8},message:"must NOT have more than 8 characters"};if(vErrors === null){vErrors = [err28];}else {vErrors.push(err28);}errors++;}if(!pattern11.test(data16)){const err29 = {instancePath:instancePath+"/wait/deadline",schemaPath:"#/$defs/deadline/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,4}(s|m|h)$"},message:"must match pattern \""+"^[1-9][0-9]{0,4}(s|m|h)$"+"\""};if(vErrors === null){vErrors = [err29];}else {vErrors.push(err29);}errors++;}}else {const err30 = {instancePath:instancePath+"/wait/deadline",schemaPath:"#/$defs/deadline/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err30];}else {vErrors.push(err30);}errors++;}}}else {const err31 = {instancePath:instancePath+"/wait",schemaPath:"#/properties/wait/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err31];}else {vErrors.push(err31);}errors++;}}if(data.assert !== undefined && func0.call(data, "assert")){let data17 = data.assert;if(data17 && typeof data17 == "object" && !Array.isArray(data17)){if((data17.property === undefined) || (!(func0.call(data17, "property")))){const err32 = {instancePath:instancePath+"/assert",schemaPath:"#/properties/assert/required",keyword:"required",params:{missingProperty: "property"},message:"must have required property '"+"property"+"'"};if(vErrors === null){vErrors = [err32];}else {vErrors.push(err32);}errors++;}if((data17.is === undefined) || (!(func0.call(data17, "is")))){const err33 = {instancePath:instancePath+"/assert",schemaPath:"#/properties/assert/required",keyword:"required",params:{missingProperty: "is"},message:"must have required property '"+"is"+"'"};if(vErrors === null){vErrors = [err33];}else {vErrors.push(err33);}errors++;}for(const key9 of Object.keys(data17)){if(!(((key9 === "property") || (key9 === "is")) || (key9 === "says"))){const err34 = {instancePath:instancePath+"/assert",schemaPath:"#/properties/assert/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key9},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err34];}else {vErrors.push(err34);}errors++;}}if(data17.property !== undefined && func0.call(data17, "property")){let data18 = data17.property;if(typeof data18 === "string"){if(data18.length > 200){const err35 = {instancePath:instancePath+"/assert/property",schemaPath:"#/properties/assert/properties/property/maxLength",keyword:"maxLength",params:{limit: 200},message:"must NOT have more than 200 characters"};if(vErrors === null){vErrors = [err35];}else {vErrors.push(err35);}errors++;}if(data18.length < 1){const err36 = {instancePath:instancePath+"/assert/property",schemaPath:"#/properties/assert/properties/property/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err36];}else {vErrors.push(err36);}errors++;}if(!pattern13.test(data18)){const err37 = {instancePath:instancePath+"/assert/property",schemaPath:"#/properties/assert/properties/property/pattern",keyword:"pattern",params:{pattern: "^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$"},message:"must match pattern \""+"^[a-z][a-z-]*(/[A-Za-z0-9._-]+)*$"+"\""};if(vErrors === null){vErrors = [err37];}else {vErrors.push(err37);}errors++;}}else {const err38 = {instancePath:instancePath+"/assert/property",schemaPath:"#/properties/assert/properties/property/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err38];}else {vErrors.push(err38);}errors++;}}if(data17.is !== undefined && func0.call(data17, "is")){let data19 = data17.is;const _errs46 = errors;let valid11 = false;let passing0 = null;const _errs47 = errors;if(typeof data19 === "string"){if(data19.length > 400){const err39 = {instancePath:instancePath+"/assert/is",schemaPath:"#/properties/assert/properties/is/oneOf/0/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err39];}else {vErrors.push(err39);}errors++;}}else {const err40 = {instancePath:instancePath+"/assert/is",schemaPath:"#/properties/assert/properties/is/oneOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err40];}else {vErrors.push(err40);}errors++;}var _valid0 = _errs47 === errors;if(_valid0){valid11 = true;passing0 = 0;}const _errs49 = errors;if(!(((typeof data19 == "number") && (!(data19 % 1) && !isNaN(data19))) && (isFinite(data19)))){const err41 = {instancePath:instancePath+"/assert/is",schemaPath:"#/properties/assert/properties/is/oneOf/1/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err41];}else {vErrors.push(err41);}errors++;}var _valid0 = _errs49 === errors;if(_valid0 && valid11){valid11 = false;passing0 = [passing0, 1];}else {if(_valid0){valid11 = true;passing0 = 1;}const _errs51 = errors;if(typeof data19 !== "boolean"){const err42 = {instancePath:instancePath+"/assert/is",schemaPath:"#/properties/assert/properties/is/oneOf/2/type",keyword:"type",params:{type: "boolean"},message:"must be boolean"};if(vErrors === null){vErrors = [err42];}else {vErrors.push(err42);}errors++;}var _valid0 = _errs51 === errors;if(_valid0 && valid11){valid11 = false;passing0 = [passing0, 2];}else {if(_valid0){valid11 = true;passing0 = 2;}}}if(!valid11){const err43 = {instancePath:instancePath+"/assert/is",schemaPath:"#/properties/assert/properties/is/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err43];}else {vErrors.push(err43);}errors++;}else {errors = _errs46;if(vErrors !== null){if(_errs46){vErrors.length = _errs46;}else {vErrors = null;}}}}if(data17.says !== undefined && func0.call(data17, "says")){let data20 = data17.says;if(typeof data20 === "string"){if(data20.length > 400){const err44 = {instancePath:instancePath+"/assert/says",schemaPath:"#/$defs/text/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err44];}else {vErrors.push(err44);}errors++;}if(data20.length < 1){const err45 = {instancePath:instancePath+"/assert/says",schemaPath:"#/$defs/text/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err45];}else {vErrors.push(err45);}errors++;}if(!pattern4.test(data20)){const err46 = {instancePath:instancePath+"/assert/says",schemaPath:"#/$defs/text/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f]+$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f]+$"+"\""};if(vErrors === null){vErrors = [err46];}else {vErrors.push(err46);}errors++;}}else {const err47 = {instancePath:instancePath+"/assert/says",schemaPath:"#/$defs/text/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err47];}else {vErrors.push(err47);}errors++;}}}else {const err48 = {instancePath:instancePath+"/assert",schemaPath:"#/properties/assert/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err48];}else {vErrors.push(err48);}errors++;}}if(data.confirm !== undefined && func0.call(data, "confirm")){let data21 = data.confirm;if(typeof data21 === "string"){if(data21.length > 400){const err49 = {instancePath:instancePath+"/confirm",schemaPath:"#/$defs/text/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err49];}else {vErrors.push(err49);}errors++;}if(data21.length < 1){const err50 = {instancePath:instancePath+"/confirm",schemaPath:"#/$defs/text/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err50];}else {vErrors.push(err50);}errors++;}if(!pattern4.test(data21)){const err51 = {instancePath:instancePath+"/confirm",schemaPath:"#/$defs/text/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f]+$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f]+$"+"\""};if(vErrors === null){vErrors = [err51];}else {vErrors.push(err51);}errors++;}}else {const err52 = {instancePath:instancePath+"/confirm",schemaPath:"#/$defs/text/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err52];}else {vErrors.push(err52);}errors++;}}if(data.run !== undefined && func0.call(data, "run")){let data22 = data.run;if(data22 && typeof data22 == "object" && !Array.isArray(data22)){if((data22.command === undefined) || (!(func0.call(data22, "command")))){const err53 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/required",keyword:"required",params:{missingProperty: "command"},message:"must have required property '"+"command"+"'"};if(vErrors === null){vErrors = [err53];}else {vErrors.push(err53);}errors++;}if((data22.effect === undefined) || (!(func0.call(data22, "effect")))){const err54 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/required",keyword:"required",params:{missingProperty: "effect"},message:"must have required property '"+"effect"+"'"};if(vErrors === null){vErrors = [err54];}else {vErrors.push(err54);}errors++;}for(const key10 of Object.keys(data22)){if(!((((key10 === "command") || (key10 === "unless")) || (key10 === "effect")) || (key10 === "deadline"))){const err55 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key10},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err55];}else {vErrors.push(err55);}errors++;}}if(data22.command !== undefined && func0.call(data22, "command")){let data23 = data22.command;if(Array.isArray(data23)){if(data23.length > 64){const err56 = {instancePath:instancePath+"/run/command",schemaPath:"#/$defs/words/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err56];}else {vErrors.push(err56);}errors++;}if(data23.length < 1){const err57 = {instancePath:instancePath+"/run/command",schemaPath:"#/$defs/words/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err57];}else {vErrors.push(err57);}errors++;}const len1 = data23.length;for(let i1=0; i1<len1; i1++){let data24 = data23[i1];if(typeof data24 === "string"){if(data24.length > 4096){const err58 = {instancePath:instancePath+"/run/command/" + i1,schemaPath:"#/$defs/words/items/maxLength",keyword:"maxLength",params:{limit: 4096},message:"must NOT have more than 4096 characters"};if(vErrors === null){vErrors = [err58];}else {vErrors.push(err58);}errors++;}if(data24.length < 1){const err59 = {instancePath:instancePath+"/run/command/" + i1,schemaPath:"#/$defs/words/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err59];}else {vErrors.push(err59);}errors++;}}else {const err60 = {instancePath:instancePath+"/run/command/" + i1,schemaPath:"#/$defs/words/items/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err60];}else {vErrors.push(err60);}errors++;}}}else {const err61 = {instancePath:instancePath+"/run/command",schemaPath:"#/$defs/words/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err61];}else {vErrors.push(err61);}errors++;}}if(data22.unless !== undefined && func0.call(data22, "unless")){let data25 = data22.unless;if(Array.isArray(data25)){if(data25.length > 64){const err62 = {instancePath:instancePath+"/run/unless",schemaPath:"#/$defs/words/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err62];}else {vErrors.push(err62);}errors++;}if(data25.length < 1){const err63 = {instancePath:instancePath+"/run/unless",schemaPath:"#/$defs/words/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err63];}else {vErrors.push(err63);}errors++;}const len2 = data25.length;for(let i2=0; i2<len2; i2++){let data26 = data25[i2];if(typeof data26 === "string"){if(data26.length > 4096){const err64 = {instancePath:instancePath+"/run/unless/" + i2,schemaPath:"#/$defs/words/items/maxLength",keyword:"maxLength",params:{limit: 4096},message:"must NOT have more than 4096 characters"};if(vErrors === null){vErrors = [err64];}else {vErrors.push(err64);}errors++;}if(data26.length < 1){const err65 = {instancePath:instancePath+"/run/unless/" + i2,schemaPath:"#/$defs/words/items/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err65];}else {vErrors.push(err65);}errors++;}}else {const err66 = {instancePath:instancePath+"/run/unless/" + i2,schemaPath:"#/$defs/words/items/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err66];}else {vErrors.push(err66);}errors++;}}}else {const err67 = {instancePath:instancePath+"/run/unless",schemaPath:"#/$defs/words/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err67];}else {vErrors.push(err67);}errors++;}}if(data22.effect !== undefined && func0.call(data22, "effect")){let data27 = data22.effect;if(!((data27 === "none") || (data27 === "network"))){const err68 = {instancePath:instancePath+"/run/effect",schemaPath:"#/properties/run/properties/effect/enum",keyword:"enum",params:{allowedValues: schema37.properties.run.properties.effect.enum},message:"must be equal to one of the allowed values"};if(vErrors === null){vErrors = [err68];}else {vErrors.push(err68);}errors++;}}if(data22.deadline !== undefined && func0.call(data22, "deadline")){let data28 = data22.deadline;if(typeof data28 === "string"){if(data28.length > 8){const err69 = {instancePath:instancePath+"/run/deadline",schemaPath:"#/$defs/deadline/maxLength",keyword:"maxLength",params:{limit: 8},message:"must NOT have more than 8 characters"};if(vErrors === null){vErrors = [err69];}else {vErrors.push(err69);}errors++;}if(!pattern11.test(data28)){const err70 = {instancePath:instancePath+"/run/deadline",schemaPath:"#/$defs/deadline/pattern",keyword:"pattern",params:{pattern: "^[1-9][0-9]{0,4}(s|m|h)$"},message:"must match pattern \""+"^[1-9][0-9]{0,4}(s|m|h)$"+"\""};if(vErrors === null){vErrors = [err70];}else {vErrors.push(err70);}errors++;}}else {const err71 = {instancePath:instancePath+"/run/deadline",schemaPath:"#/$defs/deadline/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err71];}else {vErrors.push(err71);}errors++;}}}else {const err72 = {instancePath:instancePath+"/run",schemaPath:"#/properties/run/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err72];}else {vErrors.push(err72);}errors++;}}}else {const err73 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err73];}else {vErrors.push(err73);}errors++;}validate22.errors = vErrors;return errors === 0;}validate22.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){let vErrors = null;let errors = 0;const evaluated0 = validate21.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if((data.nodes === undefined) || (!(func0.call(data, "nodes")))){const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "nodes"},message:"must have required property '"+"nodes"+"'"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}if((data.tasks === undefined) || (!(func0.call(data, "tasks")))){const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "tasks"},message:"must have required property '"+"tasks"+"'"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}for(const key0 of Object.keys(data)){if(!(((((key0 === "name") || (key0 === "nodes")) || (key0 === "serial")) || (key0 === "maxFailures")) || (key0 === "tasks"))){const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}}if(data.name !== undefined && func0.call(data, "name")){let data0 = data.name;if(typeof data0 === "string"){if(data0.length > 400){const err3 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/text/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}if(data0.length < 1){const err4 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/text/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}if(!pattern4.test(data0)){const err5 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/text/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f]+$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f]+$"+"\""};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}}else {const err6 = {instancePath:instancePath+"/name",schemaPath:"#/$defs/text/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}}if(data.nodes !== undefined && func0.call(data, "nodes")){let data1 = data.nodes;const _errs6 = errors;let valid2 = false;let passing0 = null;const _errs7 = errors;if(typeof data1 === "string"){if(data1.length > 400){const err7 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/0/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}if(!pattern6.test(data1)){const err8 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/0/pattern",keyword:"pattern",params:{pattern: "^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$"},message:"must match pattern \""+"^(all|targets|[a-z0-9-]+!?=[A-Za-z0-9_.-]+(, ?[a-z0-9-]+!?=[A-Za-z0-9_.-]+)*)$"+"\""};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}}else {const err9 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/0/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}var _valid0 = _errs7 === errors;if(_valid0){valid2 = true;passing0 = 0;}const _errs9 = errors;if(Array.isArray(data1)){if(data1.length > 256){const err10 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/1/maxItems",keyword:"maxItems",params:{limit: 256},message:"must NOT have more than 256 items"};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}if(data1.length < 1){const err11 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/1/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}const len0 = data1.length;for(let i0=0; i0<len0; i0++){let data2 = data1[i0];if(typeof data2 === "string"){if(data2.length > 63){const err12 = {instancePath:instancePath+"/nodes/" + i0,schemaPath:"#/$defs/name/maxLength",keyword:"maxLength",params:{limit: 63},message:"must NOT have more than 63 characters"};if(vErrors === null){vErrors = [err12];}else {vErrors.push(err12);}errors++;}if(!pattern7.test(data2)){const err13 = {instancePath:instancePath+"/nodes/" + i0,schemaPath:"#/$defs/name/pattern",keyword:"pattern",params:{pattern: "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"},message:"must match pattern \""+"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"+"\""};if(vErrors === null){vErrors = [err13];}else {vErrors.push(err13);}errors++;}}else {const err14 = {instancePath:instancePath+"/nodes/" + i0,schemaPath:"#/$defs/name/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err14];}else {vErrors.push(err14);}errors++;}}}else {const err15 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf/1/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err15];}else {vErrors.push(err15);}errors++;}var _valid0 = _errs9 === errors;if(_valid0 && valid2){valid2 = false;passing0 = [passing0, 1];}else {if(_valid0){valid2 = true;passing0 = 1;}}if(!valid2){const err16 = {instancePath:instancePath+"/nodes",schemaPath:"#/properties/nodes/oneOf",keyword:"oneOf",params:{passingSchemas: passing0},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err16];}else {vErrors.push(err16);}errors++;}else {errors = _errs6;if(vErrors !== null){if(_errs6){vErrors.length = _errs6;}else {vErrors = null;}}}}if(data.serial !== undefined && func0.call(data, "serial")){let data3 = data.serial;const _errs15 = errors;let valid6 = false;let passing1 = null;const _errs16 = errors;if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){const err17 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err17];}else {vErrors.push(err17);}errors++;}if((typeof data3 == "number") && (isFinite(data3))){if(data3 > 256 || isNaN(data3)){const err18 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 256},message:"must be <= 256"};if(vErrors === null){vErrors = [err18];}else {vErrors.push(err18);}errors++;}if(data3 < 1 || isNaN(data3)){const err19 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err19];}else {vErrors.push(err19);}errors++;}}var _valid1 = _errs16 === errors;if(_valid1){valid6 = true;passing1 = 0;}const _errs18 = errors;if(typeof data3 === "string"){if(!pattern8.test(data3)){const err20 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/1/pattern",keyword:"pattern",params:{pattern: "^([1-9][0-9]?|100)%$"},message:"must match pattern \""+"^([1-9][0-9]?|100)%$"+"\""};if(vErrors === null){vErrors = [err20];}else {vErrors.push(err20);}errors++;}}else {const err21 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err21];}else {vErrors.push(err21);}errors++;}var _valid1 = _errs18 === errors;if(_valid1 && valid6){valid6 = false;passing1 = [passing1, 1];}else {if(_valid1){valid6 = true;passing1 = 1;}const _errs20 = errors;if(Array.isArray(data3)){if(data3.length > 64){const err22 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/2/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err22];}else {vErrors.push(err22);}errors++;}if(data3.length < 1){const err23 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/2/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err23];}else {vErrors.push(err23);}errors++;}const len1 = data3.length;for(let i1=0; i1<len1; i1++){let data4 = data3[i1];const _errs24 = errors;let valid10 = false;let passing2 = null;const _errs25 = errors;if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){const err24 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf/0/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err24];}else {vErrors.push(err24);}errors++;}if((typeof data4 == "number") && (isFinite(data4))){if(data4 > 256 || isNaN(data4)){const err25 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 256},message:"must be <= 256"};if(vErrors === null){vErrors = [err25];}else {vErrors.push(err25);}errors++;}if(data4 < 1 || isNaN(data4)){const err26 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1"};if(vErrors === null){vErrors = [err26];}else {vErrors.push(err26);}errors++;}}var _valid2 = _errs25 === errors;if(_valid2){valid10 = true;passing2 = 0;}const _errs27 = errors;if(typeof data4 === "string"){if(!pattern8.test(data4)){const err27 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf/1/pattern",keyword:"pattern",params:{pattern: "^([1-9][0-9]?|100)%$"},message:"must match pattern \""+"^([1-9][0-9]?|100)%$"+"\""};if(vErrors === null){vErrors = [err27];}else {vErrors.push(err27);}errors++;}}else {const err28 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf/1/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err28];}else {vErrors.push(err28);}errors++;}var _valid2 = _errs27 === errors;if(_valid2 && valid10){valid10 = false;passing2 = [passing2, 1];}else {if(_valid2){valid10 = true;passing2 = 1;}}if(!valid10){const err29 = {instancePath:instancePath+"/serial/" + i1,schemaPath:"#/$defs/batch/oneOf",keyword:"oneOf",params:{passingSchemas: passing2},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err29];}else {vErrors.push(err29);}errors++;}else {errors = _errs24;if(vErrors !== null){if(_errs24){vErrors.length = _errs24;}else {vErrors = null;}}}}}else {const err30 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf/2/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err30];}else {vErrors.push(err30);}errors++;}var _valid1 = _errs20 === errors;if(_valid1 && valid6){valid6 = false;passing1 = [passing1, 2];}else {if(_valid1){valid6 = true;passing1 = 2;}}}if(!valid6){const err31 = {instancePath:instancePath+"/serial",schemaPath:"#/properties/serial/oneOf",keyword:"oneOf",params:{passingSchemas: passing1},message:"must match exactly one schema in oneOf"};if(vErrors === null){vErrors = [err31];}else {vErrors.push(err31);}errors++;}else {errors = _errs15;if(vErrors !== null){if(_errs15){vErrors.length = _errs15;}else {vErrors = null;}}}}if(data.maxFailures !== undefined && func0.call(data, "maxFailures")){let data5 = data.maxFailures;if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){const err32 = {instancePath:instancePath+"/maxFailures",schemaPath:"#/properties/maxFailures/type",keyword:"type",params:{type: "integer"},message:"must be integer"};if(vErrors === null){vErrors = [err32];}else {vErrors.push(err32);}errors++;}if((typeof data5 == "number") && (isFinite(data5))){if(data5 > 256 || isNaN(data5)){const err33 = {instancePath:instancePath+"/maxFailures",schemaPath:"#/properties/maxFailures/maximum",keyword:"maximum",params:{comparison: "<=", limit: 256},message:"must be <= 256"};if(vErrors === null){vErrors = [err33];}else {vErrors.push(err33);}errors++;}if(data5 < 0 || isNaN(data5)){const err34 = {instancePath:instancePath+"/maxFailures",schemaPath:"#/properties/maxFailures/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0},message:"must be >= 0"};if(vErrors === null){vErrors = [err34];}else {vErrors.push(err34);}errors++;}}}if(data.tasks !== undefined && func0.call(data, "tasks")){let data6 = data.tasks;if(Array.isArray(data6)){if(data6.length > 64){const err35 = {instancePath:instancePath+"/tasks",schemaPath:"#/properties/tasks/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err35];}else {vErrors.push(err35);}errors++;}if(data6.length < 1){const err36 = {instancePath:instancePath+"/tasks",schemaPath:"#/properties/tasks/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err36];}else {vErrors.push(err36);}errors++;}const len2 = data6.length;for(let i2=0; i2<len2; i2++){if(!(validate22(data6[i2], {instancePath:instancePath+"/tasks/" + i2,parentData:data6,parentDataProperty:i2,rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate22.errors : vErrors.concat(validate22.errors);errors = vErrors.length;}}}else {const err37 = {instancePath:instancePath+"/tasks",schemaPath:"#/properties/tasks/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err37];}else {vErrors.push(err37);}errors++;}}}else {const err38 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err38];}else {vErrors.push(err38);}errors++;}validate21.errors = vErrors;return errors === 0;}validate21.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data, dynamicAnchors={}}={}){/*# sourceURL="https://meshwright.dev/schemas/playbook.schema.json" */;let vErrors = null;let errors = 0;const evaluated0 = validate20.evaluated;if(evaluated0.dynamicProps){evaluated0.props = undefined;}if(evaluated0.dynamicItems){evaluated0.items = undefined;}if(data && typeof data == "object" && !Array.isArray(data)){if((data.playbook === undefined) || (!(func0.call(data, "playbook")))){const err0 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "playbook"},message:"must have required property '"+"playbook"+"'"};if(vErrors === null){vErrors = [err0];}else {vErrors.push(err0);}errors++;}if((data.plays === undefined) || (!(func0.call(data, "plays")))){const err1 = {instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: "plays"},message:"must have required property '"+"plays"+"'"};if(vErrors === null){vErrors = [err1];}else {vErrors.push(err1);}errors++;}for(const key0 of Object.keys(data)){if(!(((key0 === "playbook") || (key0 === "about")) || (key0 === "plays"))){const err2 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties"};if(vErrors === null){vErrors = [err2];}else {vErrors.push(err2);}errors++;}}if(data.playbook !== undefined && func0.call(data, "playbook")){if(1 !== data.playbook){const err3 = {instancePath:instancePath+"/playbook",schemaPath:"#/properties/playbook/const",keyword:"const",params:{allowedValue: 1},message:"must be equal to constant"};if(vErrors === null){vErrors = [err3];}else {vErrors.push(err3);}errors++;}}if(data.about !== undefined && func0.call(data, "about")){let data1 = data.about;if(typeof data1 === "string"){if(data1.length > 400){const err4 = {instancePath:instancePath+"/about",schemaPath:"#/$defs/text/maxLength",keyword:"maxLength",params:{limit: 400},message:"must NOT have more than 400 characters"};if(vErrors === null){vErrors = [err4];}else {vErrors.push(err4);}errors++;}if(data1.length < 1){const err5 = {instancePath:instancePath+"/about",schemaPath:"#/$defs/text/minLength",keyword:"minLength",params:{limit: 1},message:"must NOT have fewer than 1 characters"};if(vErrors === null){vErrors = [err5];}else {vErrors.push(err5);}errors++;}if(!pattern4.test(data1)){const err6 = {instancePath:instancePath+"/about",schemaPath:"#/$defs/text/pattern",keyword:"pattern",params:{pattern: "^[^\\u0000-\\u001f\\u007f]+$"},message:"must match pattern \""+"^[^\\u0000-\\u001f\\u007f]+$"+"\""};if(vErrors === null){vErrors = [err6];}else {vErrors.push(err6);}errors++;}}else {const err7 = {instancePath:instancePath+"/about",schemaPath:"#/$defs/text/type",keyword:"type",params:{type: "string"},message:"must be string"};if(vErrors === null){vErrors = [err7];}else {vErrors.push(err7);}errors++;}}if(data.plays !== undefined && func0.call(data, "plays")){let data2 = data.plays;if(Array.isArray(data2)){if(data2.length > 64){const err8 = {instancePath:instancePath+"/plays",schemaPath:"#/properties/plays/maxItems",keyword:"maxItems",params:{limit: 64},message:"must NOT have more than 64 items"};if(vErrors === null){vErrors = [err8];}else {vErrors.push(err8);}errors++;}if(data2.length < 1){const err9 = {instancePath:instancePath+"/plays",schemaPath:"#/properties/plays/minItems",keyword:"minItems",params:{limit: 1},message:"must NOT have fewer than 1 items"};if(vErrors === null){vErrors = [err9];}else {vErrors.push(err9);}errors++;}const len0 = data2.length;for(let i0=0; i0<len0; i0++){if(!(validate21(data2[i0], {instancePath:instancePath+"/plays/" + i0,parentData:data2,parentDataProperty:i0,rootData,dynamicAnchors}))){vErrors = vErrors === null ? validate21.errors : vErrors.concat(validate21.errors);errors = vErrors.length;}}}else {const err10 = {instancePath:instancePath+"/plays",schemaPath:"#/properties/plays/type",keyword:"type",params:{type: "array"},message:"must be array"};if(vErrors === null){vErrors = [err10];}else {vErrors.push(err10);}errors++;}}}else {const err11 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object"};if(vErrors === null){vErrors = [err11];}else {vErrors.push(err11);}errors++;}validate20.errors = vErrors;return errors === 0;}validate20.evaluated = {"props":true,"dynamicProps":false,"dynamicItems":false};
