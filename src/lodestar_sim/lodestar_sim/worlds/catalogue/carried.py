"""Categories of portable objects."""

from __future__ import annotations

from lodestar_sim.worlds.catalogue.category import Category, category

_ANY = "red orange yellow green blue purple pink white black"

# fmt: off
CARRIED: tuple[Category, ...] = (
    category("mug", "mug ceramic", (0.09, 0.125, 0.1), (0.1, 0.14, 0.12), _ANY,
             place="top", rooms="kitchen,kitchenette,office,study,open plan,meeting room,living room",
             group="mug", movable=True),
    category("bottle", "turned/bottle glass; turned/bottle plastic", (0.075, 0.075, 0.24), (0.09, 0.09, 0.32),
             "green blue red brown yellow", place="top",
             rooms="kitchen,kitchenette,office,living room,meeting room,open plan", group="bottle", movable=True),
    category("bowl", "turned/bowl ceramic", (0.2, 0.2, 0.08), (0.28, 0.28, 0.12), "white blue red green yellow",
             place="top", rooms="kitchen,living room,kitchenette", group="bowl", movable=True),
    category("book", "book/lying paper", (0.17, 0.24, 0.04), (0.22, 0.3, 0.07), _ANY, place="shelf",
             rooms="living room,study,bedroom,office,open plan", group="book", movable=True),
    category("books", "books?count=6 paper; books?count=8 paper", (0.18, 0.26, 0.22), (0.2, 0.36, 0.25), _ANY,
             place="shelf", rooms="living room,study,office", group="book", movable=True),
    category("backpack", "backpack fabric", (0.26, 0.32, 0.44), (0.32, 0.38, 0.52),
             "red orange green blue purple black pink", place="top", group="bag", movable=True),
    category("handbag", "bag leather", (0.16, 0.34, 0.3), (0.2, 0.4, 0.36), "red brown black pink green",
             place="top", rooms="bedroom,hall,living room", group="bag", movable=True),
    category("suitcase", "suitcase plastic", (0.26, 0.42, 0.7), (0.32, 0.48, 0.8),
             "red orange blue green purple black", group="bag", movable=True),
    category("teddy bear", "bear fabric", (0.3, 0.32, 0.36), (0.36, 0.38, 0.44), "brown beige pink white",
             place="top", rooms="bedroom,living room", group="teddy bear", movable=True),
    category("ball", "ball plastic", (0.22, 0.22, 0.22), (0.26, 0.26, 0.26), "red orange yellow green blue pink",
             group="ball", movable=True),
    category("cushion", "pillow fabric", (0.34, 0.34, 0.14), (0.4, 0.4, 0.18), _ANY, place="top",
             rooms="living room", group="cushion", movable=True),
    category("shoes", "shoes leather", (0.28, 0.24, 0.12), (0.31, 0.27, 0.15), "red white black brown blue",
             group="shoes", movable=True),
    category("box", "box/carton paper cardboard brown,beige; box/plain paper; box/tote plastic plastic",
             (0.3, 0.36, 0.24), (0.4, 0.46, 0.34), "red blue green yellow white orange purple",
             place="shelf", group="box", movable=True),
    category("crate", "box/crate wood wooden brown,beige; box/crate plastic plastic",
             (0.34, 0.44, 0.24), (0.42, 0.54, 0.32), "red blue green yellow", place="shelf", group="box", movable=True),
    category("trash can", "turned/bin plastic; turned/lidded metal",
             (0.28, 0.28, 0.38), (0.36, 0.36, 0.62), "black gray blue green red white yellow",
             group="trash can", movable=True),
    category("umbrella stand", "turned/umbrella metal", (0.24, 0.24, 0.5), (0.28, 0.28, 0.58), "black brown green",
             group="trash can", movable=True),
    category("bucket", "turned/bin plastic", (0.28, 0.28, 0.28), (0.32, 0.32, 0.32), "red blue yellow green",
             group="trash can", movable=True),
    category("toolbox", "toolbox metal", (0.22, 0.42, 0.24), (0.26, 0.5, 0.3), "red blue yellow gray orange",
             place="shelf", rooms="warehouse,storage room,workshop", group="toolbox", movable=True),
    category("helmet", "helmet plastic", (0.26, 0.22, 0.16), (0.3, 0.25, 0.19), "yellow white orange blue red",
             place="shelf", rooms="warehouse,workshop,storage room", group="helmet", movable=True),
)
