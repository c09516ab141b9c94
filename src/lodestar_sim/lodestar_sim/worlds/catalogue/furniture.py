"""Categories of furniture."""

from __future__ import annotations

from lodestar_sim.worlds.catalogue.category import Category, category

_BRIGHT = "red orange yellow green blue purple white black gray brown"
_WOOD = "brown beige white black gray"

# fmt: off
FURNITURE: tuple[Category, ...] = (
    category(
        "chair",
        "chair/wooden wood wooden; chair/dining fabric padded; chair/folding plastic folding;"
        "chair/office fabric office red,blue,green,black,gray,purple,orange",
        (0.48, 0.46, 0.84), (0.56, 0.54, 0.98), _BRIGHT, group="chair", movable=True,
    ),
    category("armchair", "sofa?seats=1 fabric; sofa?seats=1 leather leather brown,black,red",
             (0.78, 0.78, 0.8), (0.9, 0.92, 0.95), "red green blue brown beige gray yellow purple", group="chair"),
    category("stool", "stool/round wood; stool/bar wood bar",
             (0.32, 0.32, 0.45), (0.4, 0.4, 0.68), "red yellow green blue white black brown",
             group="chair", movable=True),
    category("bench", "bench/plain wood; bench/back wood",
             (0.4, 1.1, 0.44), (0.5, 1.5, 0.5), "brown beige gray green", group="chair"),
    category("ottoman", "turned/ottoman fabric; turned/ottoman leather leather",
             (0.45, 0.45, 0.36), (0.55, 0.55, 0.44), "red green blue yellow gray pink", group="chair", movable=True),
    category("sofa", "sofa?seats=2 fabric; sofa?seats=3 fabric; sofa?seats=3 leather leather brown,black",
             (0.82, 1.6, 0.78), (0.95, 2.1, 0.92), "red green blue brown beige gray purple", group="sofa"),
    category("table", "table/square wood; table/trestle wood; table/round wood round",
             (0.8, 0.8, 0.72), (0.95, 0.95, 0.76), _WOOD, group="table"),
    category("meeting table", "table/square wood; table/trestle wood",
             (0.9, 1.8, 0.72), (1.1, 2.6, 0.76), _WOOD, group="table"),
    category("coffee table", "table/square wood; table/glass glass glass black,gray",
             (0.5, 0.8, 0.38), (0.65, 1.1, 0.45), _WOOD, group="table"),
    category("desk", "desk/drawers wood; desk/plain wood; desk/standing wood standing",
             (0.65, 1.2, 0.72), (0.75, 1.5, 0.76), _WOOD, group="table"),
    category("nightstand", "cabinet/drawers?drawers=2 wood",
             (0.4, 0.42, 0.5), (0.45, 0.5, 0.58), _WOOD, group="cabinet"),
    category("kitchen counter", "counter/plain?doors=2 wood; counter/plain?doors=3&top=wood wood",
             (0.6, 1.2, 0.86), (0.6, 1.8, 0.9), "white gray beige brown", group="counter"),
    category("workbench", "workbench wood",
             (0.7, 1.4, 0.85), (0.8, 1.9, 0.92), "brown beige green", group="table"),
    category("bed", "bed?pillows=2 fabric; bed?pillows=1 fabric",
             (2.0, 1.3, 0.8), (2.1, 1.6, 1.0), "red blue green gray purple beige pink", group="bed"),
    category("crib", "crib wood", (1.2, 0.65, 0.85), (1.3, 0.72, 0.95), "white brown beige", group="bed"),
    category("bookshelf", "shelf?boards=4 wood; shelf?boards=5 wood",
             (0.3, 0.8, 1.5), (0.36, 1.1, 1.9), _WOOD, group="shelf"),
    category("storage rack", "shelf?boards=3&back=0 metal; shelf?boards=4&back=0 metal",
             (0.4, 0.9, 1.4), (0.5, 1.2, 1.8), "gray black blue green", group="shelf"),
    category("cabinet", "cabinet/doors wood; cabinet/doors metal metal gray,black,white",
             (0.4, 0.8, 0.8), (0.5, 1.1, 1.3), _WOOD, group="cabinet"),
    category("filing cabinet", "cabinet/drawers?drawers=3 metal; cabinet/drawers?drawers=4 metal",
             (0.45, 0.42, 0.9), (0.6, 0.5, 1.3), "gray black white green blue", group="cabinet"),
    category("locker", "cabinet/doors?doors=2 metal; cabinet/doors?doors=3 metal",
             (0.45, 0.7, 1.7), (0.5, 1.1, 1.9), "blue gray red green yellow", group="cabinet"),
    category("wardrobe", "cabinet/doors?doors=2 wood; cabinet/doors?doors=3 wood",
             (0.58, 1.0, 1.9), (0.62, 1.5, 2.1), _WOOD, group="cabinet"),
    category("dresser", "cabinet/drawers?drawers=3 wood; cabinet/drawers?drawers=4 wood",
             (0.45, 0.8, 0.8), (0.5, 1.1, 1.0), _WOOD, group="cabinet"),
    category("tv stand", "cabinet/doors?doors=3 wood low; cabinet/drawers?drawers=2 wood low",
             (0.4, 1.35, 0.42), (0.45, 1.7, 0.55), _WOOD, group="cabinet"),
    category("piano", "piano wood", (0.6, 1.4, 1.1), (0.65, 1.5, 1.25), "black brown white", group="piano"),
)
